package mongotest

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// lockedCall returns a call that holds the mutex of a new set, as the primary's writes do.
func lockedCall(t *testing.T) *call {
	t.Helper()
	rs := replica.NewSet(replica.Settings{ElectionTimeout: time.Second, Version: version.Newest})
	m := &member{Member: replica.NewMember(rs, 0), points: new(failPoints)}
	m.Config = setconfig.New(0)
	rs.AddLocked(m.Member)
	m.runLocked()
	rs.BeginLocked(m.Member, func() {})
	x := &call{client: &client{cluster: &cluster{set: rs}, set: rs, points: m.points, member: m, epoch: m.Epoch, done: make(chan struct{})}}
	rs.Lock()
	t.Cleanup(rs.Unlock)
	x.result = x.result.again(0)
	x.result.term = m.Term
	x.work()
	x.takenLocked()
	return x
}

// An evaluation that takes long is done again once, without the mutex. What was found out before it is known then: it is the same document.
func TestWhatWasFoundOutIsKept(t *testing.T) {
	x := lockedCall(t)
	var quick, slow int
	var made []byte
	attempts := 0
	err := x.attemptLocked(nil, func() error {
		attempts++
		doc, err := x.memoizedLocked(memoKey{by: "quick"}, func() ([]byte, error) {
			quick++
			return make([]byte, 5), nil
		})
		if err != nil {
			return err
		}
		if made != nil && &made[0] != &doc[0] {
			t.Error("the next attempt has another document")
		}
		made = doc
		_, err = x.memoizedLocked(memoKey{"slow", &doc[0]}, func() ([]byte, error) {
			slow++
			for !x.evaluation.lock.since.IsZero() { // as long as it holds the mutex
				if err := x.checkInterrupt(); err != nil {
					return nil, err
				}
			}
			return doc, nil
		})
		return err
	})
	if err != nil || attempts != 2 || quick != 1 || slow != 2 {
		t.Errorf("%d attempts with %d and %d evaluations, want 2, 1 and 2; %v", attempts, quick, slow, err)
	}
}

// What a unit found out is forgotten with the unit, and an error ends it at once.
func TestUnitsForget(t *testing.T) {
	x := lockedCall(t)
	failed := errors.New("failed")
	for range 2 {
		evaluated := 0
		err := x.attemptLocked(nil, func() error {
			_, err := x.memoizedLocked(memoKey{by: "slow"}, func() ([]byte, error) {
				evaluated++
				for !x.evaluation.lock.since.IsZero() {
					if err := x.checkInterrupt(); err != nil {
						return nil, err
					}
				}
				return nil, failed
			})
			return err
		})
		if !errors.Is(err, failed) || evaluated != 2 {
			t.Errorf("%v after %d evaluations, want 2", err, evaluated)
		}
	}
}

// A unit that nobody knows how to continue without the mutex is done with it.
func TestAUnitThatCannotPauseKeepsTheMutex(t *testing.T) {
	x := lockedCall(t)
	attempts, releases := 0, x.evaluation.lock.releases
	err := x.attemptLocked(nil, func() error {
		attempts++
		for !x.evaluation.lock.since.IsZero() {
			if err := x.checkInterrupt(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || attempts != 2 || x.evaluation.lock.releases != releases {
		t.Errorf("%d attempts, want 2; the mutex was given up %d times; %v", attempts, x.evaluation.lock.releases-releases, err)
	}
}
