package scenario

import (
	"context"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/mongotest"
)

func (s *stage) lostReply() {
	ctx, counters := s.context(), s.collection("counters")
	_, err := counters.InsertOne(ctx, byID("c"))
	s.must(err)
	s.set.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	modified, err := counters.UpdateOne(ctx, byID("c"), increment())
	s.must(err)
	expect(s, "modified", modified, 1)

	attempts := s.journalOf("update")
	expect(s, "attempts", len(attempts), 2)
	if len(attempts) == 2 {
		expect(s, "the first was applied", attempts[0].Applied && attempts[0].ReplyLost, true)
		expect(s, "the second was deduplicated", attempts[1].Deduplicated && !attempts[1].Applied, true)
		expect(s, "their transaction numbers are the same", attempts[1].TxnNumber, attempts[0].TxnNumber)
	}
	s.expectCount(1)
}

// failOvers lets a writer go on while primaries come and go. Each of the updates must be acknowledged and applied once.
func (s *stage) failOvers() {
	const updates = 40
	ctx, counters := s.context(), s.collection("counters")
	_, err := counters.InsertOne(ctx, byID("c"))
	s.must(err)
	troubles := map[int64]func() mongotest.Fault{10: s.stepDownBefore, 20: s.killBefore, 30: s.killAfter}
	var seen atomic.Int64
	s.set.Use("update", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		if trouble := troubles[seen.Add(1)]; trouble != nil {
			return trouble()
		}
		return mongotest.Fault{}
	}))
	term := s.set.Term()
	for i := range updates {
		if _, err := counters.UpdateOne(ctx, byID("c"), increment()); err != nil {
			s.t.Fatalf("update %d: %v", i, err)
		}
		s.restartAll()
	}
	if elections := s.set.Term() - term; elections < int64(len(troubles)) {
		s.t.Errorf("%d elections; want at least %d", elections, len(troubles))
	}
	s.must(s.set.WaitIdle(ctx))
	s.expectCount(updates)
	s.expectAppliedOnce(updates)
}

// stepDownBefore makes the primary step down when it has the request and has not begun.
func (s *stage) stepDownBefore() mongotest.Fault {
	return mongotest.Fault{Before: func() {
		if err := s.set.StepDown(); err != nil {
			s.t.Error(err)
		}
	}}
}

// killBefore kills the primary when it has the request and has not begun.
func (s *stage) killBefore() mongotest.Fault {
	return mongotest.Fault{Before: s.killPrimary}
}

// killAfter kills the primary when a majority has the write and the client has no answer.
func (s *stage) killAfter() mongotest.Fault {
	return mongotest.Fault{After: s.killPrimary}
}

func (s *stage) killPrimary() { s.set.Kill(s.set.Primary()) }

// restartAll starts the members that were killed.
func (s *stage) restartAll() {
	for i := range s.set.Members() {
		s.set.Restart(i)
	}
}

func (s *stage) expectCount(want int) {
	s.t.Helper()
	var c struct{ N int }
	s.must(s.collection("counters").FindOne(context.Background(), byID("c"), &c))
	expect(s, "the counter", c.N, want)
}

// expectAppliedOnce holds the journal against the count: each transaction number's statement was applied once.
func (s *stage) expectAppliedOnce(want int) {
	s.t.Helper()
	type number struct {
		lsid string
		txn  int64
	}
	applied := map[number]int{}
	for _, e := range s.journalOf("update") {
		if e.Applied && !e.RolledBack {
			applied[number{e.LSID, e.TxnNumber}]++
		}
	}
	expect(s, "updates in the journal", len(applied), want)
	for n, times := range applied {
		expect(s, "applications of transaction "+n.lsid, times, 1)
	}
}
