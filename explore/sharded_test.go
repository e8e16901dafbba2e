package explore_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/explore"
	search "github.com/holdfast-db/holdfast/internal/explore"
)

// A second failure may come while a mongos knows no primary. It does not happen then, and that is no mistake of the program.
func TestPairsOnAShardedCluster(t *testing.T) {
	explore.Run(t, addOnce, explore.InMemory(), explore.Sharded(3, 2), explore.Depth(2), explore.Samples(400), explore.Failures(
		explore.KilledAfter, explore.KilledBefore, explore.KilledDuring, explore.Partitioned, explore.PoolCleared, explore.StepDownBefore))
}

// All connections to the mongos break, also one that has nothing to do with the message.
func TestTheConnectionsToAMongosBreak(t *testing.T) {
	var broken []bool
	explore.Run(t, func(e *explore.Exploration) {
		other, err := e.Dialer().DialContext(e.Context(), "tcp", e.Deployment().MongosAddr(0))
		if err != nil {
			e.Fatalf("%v", err)
		}
		e.Cleanup(func() { _ = other.Close() })
		e.Logf("add returned %v", add(e.Context(), connect(e)))
		if err = other.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			e.Fatalf("%v", err)
		}
		_, err = other.Read(make([]byte, 1))
		broken = append(broken, !errors.Is(err, os.ErrDeadlineExceeded))
	}, explore.InMemory(), explore.Sharded(3, 1), explore.Failures(explore.PoolCleared), explore.Parallel(1))
	if !slices.Equal(broken, []bool{false, true}) {
		t.Errorf("without and with the failure the other connection is broken: %v", broken)
	}
}

// On a sharded cluster it is the primary that is killed, whichever that is.
func TestThePrimaryBehindAMongosIsKilled(t *testing.T) {
	report, text := explore.Report(t, "", func(e *explore.Exploration) {
		if err := e.Deployment().StepDown(); err != nil {
			e.Fatalf("%v", err)
		}
		primary, err := e.Deployment().WaitPrimary(e.Context())
		if err != nil {
			e.Fatalf("%v", err)
		}
		err = add(e.Context(), connect(e))
		if now := e.Deployment().Primary(); now != primary {
			e.Errorf("add returned %v; the primary was %d and is %d", err, primary, now)
		}
	}, explore.InMemory(), explore.Sharded(3, 1), explore.Failures(explore.KilledBefore))
	if report.Count(search.Broken) != 1 {
		t.Error(text)
	}
}
