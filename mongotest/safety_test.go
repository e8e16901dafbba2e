package mongotest_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestSafety does random things to sets of several kinds, while every member that takes writes is written to, and holds what
// comes of it against what replication promises.
func TestSafety(t *testing.T) {
	kinds := []struct {
		members int
		opts    []mongotest.Option
	}{
		{3, nil},
		{5, []mongotest.Option{priority(1, 5), priority(2, 2), priority(4, 0)}},
		{3, []mongotest.Option{mongotest.Member(2, mongotest.Arbiter())}},
		{4, []mongotest.Option{mongotest.Member(3, mongotest.Votes(0), mongotest.Priority(0), mongotest.Hidden()), mongotest.ReplicationDelay(20 * time.Millisecond)}},
		{5, []mongotest.Option{mongotest.Member(4, mongotest.Arbiter()), priority(0, 3), mongotest.Member(1, mongotest.Lag(200*time.Millisecond))}},
	}
	few := 2 * len(kinds)
	for seed := range cmp.Or(*seedsFlag, few) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			kind := kinds[seed%len(kinds)]
			opts := append([]mongotest.Option{mongotest.Seed(int64(seed)), mongotest.ElectionTimeout(time.Second)}, kind.opts...)
			bubbleOf(t, kind.members, func(t *testing.T, rs *mongotest.Deployment) {
				s := &safety{t: t, rs: rs, random: rand.New(rand.NewPCG(uint64(seed), 2))}
				for range 150 {
					s.trouble()
					s.write()
					pass(time.Duration(s.random.IntN(900)) * time.Millisecond)
				}
				s.end()
			}, opts...)
		})
	}
}

// safety is one such life of a set.
type safety struct {
	t         *testing.T
	rs        *mongotest.Deployment
	random    *rand.Rand
	id        int
	committed []int // ids that a majority acknowledged
}

func (s *safety) trouble() {
	m, other := s.random.IntN(s.rs.Members()), s.random.IntN(s.rs.Members())
	switch s.random.IntN(10) {
	case 0:
		s.rs.Kill(m)
	case 1:
		s.rs.Partition([]int{m})
	case 2:
		s.rs.Partition([]int{m, other})
	case 3, 4:
		s.rs.PartitionOneWay(m, other)
	case 5:
		s.rs.SetLag(m, time.Duration(s.random.IntN(3000))*time.Millisecond)
	case 6:
		s.rs.SetLag(m, 0)
	case 7, 8:
		s.rs.Restart(m)
	case 9:
		s.rs.Heal()
	}
}

// write inserts a document at every member that runs, whatever it takes itself for; a primary acknowledges it at once or when
// a majority has it.
func (s *safety) write() {
	for m := range s.rs.Members() {
		conn, err := s.rs.Dialer().DialContext(context.Background(), "tcp", s.rs.Addr(m))
		if err != nil {
			continue
		}
		c := &rawClient{t: s.t, conn: conn}
		s.id++
		concern := []string{`{"w": 1}`, `{"w": "majority", "wtimeout": 50}`}[s.random.IntN(2)]
		reply := c.run(`{"insert": "c", "documents": [{"_id": %d}], "writeConcern": %s, "$db": "test"}`, s.id, concern)
		if number(reply, "ok") == 1 && number(reply, "writeConcernError", "code") == -1 && concern != `{"w": 1}` {
			s.committed = append(s.committed, s.id)
		}
		_ = conn.Close()
	}
}

func (s *safety) end() {
	t, rs := s.t, s.rs
	rs.Heal()
	for m := range rs.Members() {
		rs.SetLag(m, 0)
		rs.Restart(m)
	}
	pass(10 * time.Second) // for elections and takeovers
	p := must[int](t)(rs.WaitPrimary(context.Background()))
	must[any](t)(nil, rs.WaitIdle(context.Background()))
	primaries, rolledBack := make(map[int64]int), 0
	for _, e := range rs.Journal() {
		if before, ok := primaries[e.Term]; e.Applied && ok && before != e.Member {
			t.Errorf("in term %d both %d and %d were primary", e.Term, before, e.Member)
		}
		if e.Applied {
			primaries[e.Term] = e.Member
		}
		if e.RolledBack {
			rolledBack++
		}
	}
	there := s.ids(p)
	for _, id := range s.committed {
		if !there[id] {
			t.Errorf("%d was acknowledged by a majority and is lost", id)
		}
	}
	for m := range rs.Members() {
		if got := s.ids(m); got != nil && fmt.Sprint(got) != fmt.Sprint(there) {
			t.Errorf("member %d has %d documents, the primary %d", m, len(got), len(there))
		}
	}
	t.Logf("%d terms, %d committed, %d rolled back", rs.Term(), len(s.committed), rolledBack)
}

// ids are those that a member has, nil if it has no data.
func (s *safety) ids(m int) map[int]bool {
	reply := dial(s.t, s.rs, m).run(`{"find": "c", "batchSize": 100000, "$db": "test", "$readPreference": {"mode": "nearest"}}`)
	if number(reply, "code") == 13436 {
		return nil
	}
	ids := make(map[int]bool)
	docs, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	for _, d := range docs {
		ids[int(number(d.Document(), "_id"))] = true
	}
	return ids
}
