package prove

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// couchbaseSite is the site of one cell: a cluster, and the clients of this module.
type couchbaseSite struct {
	*couchbasetest.Cluster
	settings Settings
	failFast bool
	control  *couchbaseClient // of the experiment itself

	mu      sync.Mutex
	passing chan struct{} // closed when the latest black hole or lock has ended; nil before the first
}

func (s *couchbaseSite) connect() (session, error) {
	return newCouchbaseClient(s.Cluster, s.settings.Timing, s.failFast)
}

func (s *couchbaseSite) intercept(decide func(message) treatment) func() {
	return s.Use(memd.OpSubdocMultiMutation, couchbasetest.Decide(func(r *couchbasetest.Request) couchbasetest.Fault {
		p, ok := partOfMutation(r.Value)
		if !ok {
			return couchbasetest.Fault{}
		}
		return couchbaseFault(decide(message{part: p, id: messageID{r.ConnID, int32(r.Opaque)}})) //nolint:gosec // any bits will do
	}))
}

func couchbaseFault(t treatment) couchbasetest.Fault {
	f := couchbasetest.Fault{Before: t.before, LoseRequest: t.loseRequest, After: t.after, LoseReply: t.loseReply}
	if t.refuse != nil {
		f.Status = couchbaseStatus(t.refuse.kind)
	}
	if t.answer != nil {
		f.StatusAfter = couchbaseStatus(t.answer.kind)
	}
	return f
}

func couchbaseStatus(kind FaultKind) memd.Status {
	if kind == SyncWriteAmbiguous {
		return memd.StatusSyncWriteAmbiguous
	}
	return memd.StatusTemporaryFailure
}

func (s *couchbaseSite) journal() ([]entry, bool) {
	journal := s.Journal()
	var entries []entry
	for i := range journal {
		e := &journal[i]
		p, ok := partOfMutation(e.Value)
		if e.Opcode != memd.OpSubdocMultiMutation || !ok {
			continue
		}
		failed, failure := e.Status != memd.StatusSuccess, ""
		if failed {
			failure = fmt.Sprintf("status %v", e.Status)
		}
		entries = append(entries, entry{
			id: messageID{e.ConnID, int32(e.Opaque)}, key: p.op.String(), applied: e.Applied, lost: e.Lost, //nolint:gosec // as above
			requestLost: e.RequestLost, replyLost: e.ReplyLost, troubled: e.ReplyLost || failed, failed: failed,
			failure: failure, server: e.Node, at: e.Time,
		})
	}
	return entries, true
}

func (s *couchbaseSite) read(ctx context.Context, names []string) (tallies []tally, err error) {
	client, err := newCouchbaseClient(s.Cluster, s.settings.Timing, false) //nolint:contextcheck // it has a limit of its own
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	for _, name := range names {
		found, err := client.docs.Get(name, &couchbase.GetOptions{Context: ctx}) //nolint:contextcheck // the options have it
		if errors.Is(err, couchbase.ErrDocumentNotFound) {
			continue
		}
		var d struct {
			N   int64
			Ops map[string]int64
		}
		if err == nil {
			err = found.Content(&d)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		tallies = append(tallies, tally{name: name, counter: d.N, ops: d.Ops})
	}
	return tallies, nil
}

func (s *couchbaseSite) awaitWritable(ctx context.Context) error {
	s.mu.Lock()
	passing := s.passing
	s.mu.Unlock()
	if passing == nil {
		return nil
	}
	select {
	case <-passing:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// blackout is not in Couchbase's failures.
func (s *couchbaseSite) blackout() {}

func (s *couchbaseSite) restore(ctx context.Context) error {
	for i := range s.State().Nodes {
		s.Heal(i)
	}
	if err := s.WaitIdle(ctx); err != nil {
		return fmt.Errorf("waiting until no request runs: %w", err)
	}
	return nil
}

func (s *couchbaseSite) delay(int) time.Duration { return 0 } // no rule limits the time

func (s *couchbaseSite) close() error {
	return errors.Join(s.control.cluster.Close(nil), s.Close())
}
