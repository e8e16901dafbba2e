package call

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// lockedCall returns a call that holds the mutex of a new set, as the primary's writes do.
func lockedCall(t *testing.T) Locked {
	t.Helper()
	rs := replica.NewSet(replica.Settings{ElectionTimeout: time.Second, Version: version.Newest})
	m := &Member{Member: replica.NewMember(rs, 0), Points: new(FailPoints)}
	m.Config = setconfig.New(0)
	rs.AddLocked(m.Member)
	m.RunLocked()
	rs.BeginLocked(m.Member, func() {})
	x := Locked{&Call{Client: &Client{Cluster: &Cluster{Set: rs}, Set: rs, Process: &m.Process, Points: m.Points, Member: m, Epoch: m.Epoch, Done: make(chan struct{})}}}
	rs.Lock()
	t.Cleanup(rs.Unlock)
	x.Result = x.Result.Again(0)
	x.Result.Term = m.Term
	x.Work()
	taken(x)
	return x
}

// An evaluation that takes long is done again once, without the mutex. What was found out before it is known then: it is the same document.
func TestWhatWasFoundOutIsKept(t *testing.T) {
	x := lockedCall(t)
	var quick, slow int
	var made []byte
	attempts := 0
	err := attempt(x, nil, func() error {
		attempts++
		doc, err := x.Memoized(MemoKey{By: "quick"}, func() ([]byte, error) {
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
		_, err = x.Memoized(MemoKey{"slow", &doc[0]}, func() ([]byte, error) {
			slow++
			for !x.Evaluation.lock.attemptBegan.IsZero() { // as long as it holds the mutex
				if err := checkInterrupt(x.Call); err != nil {
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
		err := attempt(x, nil, func() error {
			_, err := x.Memoized(MemoKey{By: "slow"}, func() ([]byte, error) {
				evaluated++
				for !x.Evaluation.lock.attemptBegan.IsZero() {
					if err := checkInterrupt(x.Call); err != nil {
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
	attempts, releases := 0, x.Evaluation.lock.releases
	err := attempt(x, nil, func() error {
		attempts++
		for !x.Evaluation.lock.attemptBegan.IsZero() {
			if err := checkInterrupt(x.Call); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || attempts != 2 || x.Evaluation.lock.releases != releases {
		t.Errorf("%d attempts, want 2; the mutex was given up %d times; %v", attempts, x.Evaluation.lock.releases-releases, err)
	}
}
