package router

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// awaiting lets the getMores that wait at a member for documents, those of change streams and of other tailable cursors, have half of the
// connections to that member at most. A quarter of them may wait as long as their clients have asked. If there are more, they are ended
// early, so that each gets its turn: with an empty batch, after which a driver asks again. If there is one connection only, all are.
type awaiting struct {
	turns int64 // of each member at the same time; 0: any number
	only  bool  // a turn takes the only connection to the member

	mu      sync.Mutex
	members map[string]*memberTurns
}

// memberTurns are the turns of one member.
type memberTurns struct {
	free *semaphore.Weighted // which serves those who wait in their order
	all  int64               // those that have a turn or wait for one
}

const (
	// usualAwait is how long a member lets a getMore wait that says nothing of it.
	usualAwait = time.Second
	// leastAwait bounds how many getMores a crowd sends.
	leastAwait = 10 * time.Millisecond
	// onlyAwait is how long those may wait together, one after the other, that leave no connection for anything else.
	onlyAwait = 100 * time.Millisecond
)

// newAwaiting returns the turns of members with pools of at most that many connections, 0 for any number.
func newAwaiting(maxPoolSize uint64) *awaiting {
	a := &awaiting{members: make(map[string]*memberTurns), only: maxPoolSize == 1}
	if maxPoolSize > 0 {
		a.turns = int64(max(1, maxPoolSize/2))
	}
	return a
}

// begin waits for a turn at a member. It returns how long the getMore may wait there, 0 for as long as it asks. The caller calls
// end afterwards.
func (a *awaiting) begin(ctx context.Context, member string) (limit time.Duration, err error) {
	if a.turns == 0 {
		return 0, nil
	}
	m := a.enter(member)
	if err := m.free.Acquire(ctx, 1); err != nil {
		a.leave(member, m)
		return 0, context.Cause(ctx)
	}
	return a.limit(m), nil
}

func (a *awaiting) end(member string) {
	if a.turns == 0 {
		return
	}
	a.mu.Lock()
	m := a.members[member]
	a.mu.Unlock()
	m.free.Release(1)
	a.leave(member, m)
}

func (a *awaiting) enter(member string) *memberTurns {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.members[member]
	if m == nil {
		m = &memberTurns{free: semaphore.NewWeighted(a.turns)}
		a.members[member] = m
	}
	m.all++
	return m
}

func (a *awaiting) leave(member string, m *memberTurns) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.all--; m.all == 0 {
		delete(a.members, member)
	}
}

// limit returns how long one of the getMores at a member may wait, 0 for as long as it asks.
func (a *awaiting) limit(m *memberTurns) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.only {
		return max(leastAwait, onlyAwait/time.Duration(m.all))
	}
	unhurried := max(1, a.turns/2)
	if m.all <= unhurried {
		return 0
	}
	return max(leastAwait, usualAwait*time.Duration(unhurried)/time.Duration(m.all))
}

// awaits reports whether the command is a getMore that waits at its member for documents. Members refuse maxTimeMS in any other one.
func (f *forwarded) awaits() bool {
	q := f.command
	return q.Name == "getMore" && (q.maxTime > 0 || f.client.router.cursors.awaits(q.cursor))
}

// opensAwaiting reports whether the command is a find whose getMores wait for documents. Members know the field in no other command.
func opensAwaiting(q *command) bool {
	awaitData := field(q.Body, "awaitData")
	return awaitData.True()
}

// appendAwait writes how long a getMore may wait at its member, if that is less than it asks for.
func (f *forwarded) appendAwait(dst []byte) []byte {
	limit := f.awaitLimit
	if f.command.maxTime > 0 {
		limit = min(limit, f.command.maxTime)
	}
	return wire.AppendInt64(dst, "maxTimeMS", limit.Milliseconds())
}
