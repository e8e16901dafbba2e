package store

import (
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/threadtime"
)

func TestTheTimeOfRetryableStatementsGrowsWithTheirNumber(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const chances = 5 // the collection of garbage only adds to a time
	least := 0.0
	for range chances {
		ratio := float64(executing(t, 4_000)) / float64(executing(t, 500))
		if least == 0 || ratio < least {
			least = ratio
		}
		if least <= 20 { // a square would be 64
			return
		}
	}
	t.Errorf("4,000 statements of a transaction number take %.1f times as long as 500", least)
}

// executing returns the least processor time in which a session executes a number of statements, each of which is looked for first.
func executing(t *testing.T, statements int32) time.Duration {
	t.Helper()
	least := time.Duration(0)
	for i := range 3 {
		st := New()
		began := threadtime.Now()
		for stmt := range statements {
			if st.Session("s").Executed(1, stmt) != nil {
				t.Fatalf("statement %d has not been executed", stmt)
			}
			st.Apply(&Entry{Op: Noop, TS: Timestamp(stmt + 1), Session: &SessionRef{LSID: "s", Txn: 1, Stmt: stmt}})
		}
		if took := threadtime.Now() - began; i == 0 || took < least {
			least = took
		}
	}
	return least
}
