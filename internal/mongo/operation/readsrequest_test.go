package operation

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A pin on a fallback ends when there is a suitable member of the preferred type; tags and staleness count. Any pin ends when its member is
// too stale.
func TestWhenAPinIsOutlived(t *testing.T) {
	now := time.Now()
	member := func(address string, kind topology.ServerType, dc string, behind time.Duration) *topology.Server {
		return &topology.Server{
			Address: address, Type: kind, Tags: tag.Set{{Name: "dc", Value: dc}}, LastUpdateTime: now, LastWriteDate: now.Add(-behind),
		}
	}
	const p, s, a = topology.RSPrimary, topology.RSSecondary, topology.RSArbiter
	east := readpref.WithTagSets(tag.Set{{Name: "dc", Value: "east"}})
	fresh := readpref.WithMaxStaleness(90 * time.Second)
	for name, c := range map[string]struct {
		preference *readpref.ReadPref
		pinned     *topology.Server
		other      *topology.Server
		want       bool
	}{
		"secondaryPreferred at the primary, alone":          {readpref.SecondaryPreferred(), member("m:1", p, "", 0), nil, false},
		"secondaryPreferred at the primary, an arbiter":     {readpref.SecondaryPreferred(), member("m:1", p, "", 0), member("n:1", a, "", 0), false},
		"secondaryPreferred at the primary, a secondary":    {readpref.SecondaryPreferred(), member("m:1", p, "", 0), member("n:1", s, "", 0), true},
		"secondaryPreferred at a secondary":                 {readpref.SecondaryPreferred(), member("m:1", s, "", 0), member("n:1", p, "", 0), false},
		"the secondary has other tags":                      {readpref.SecondaryPreferred(east), member("m:1", p, "", 0), member("n:1", s, "west", 0), false},
		"the secondary has the tags":                        {readpref.SecondaryPreferred(east), member("m:1", p, "", 0), member("n:1", s, "east", 0), true},
		"the secondary is too stale":                        {readpref.SecondaryPreferred(fresh), member("m:1", p, "", 0), member("n:1", s, "", 81*time.Second), false},
		"the secondary is fresh enough":                     {readpref.SecondaryPreferred(fresh), member("m:1", p, "", 0), member("n:1", s, "", 80*time.Second), true},
		"primaryPreferred at a secondary, alone":            {readpref.PrimaryPreferred(), member("m:1", s, "", 0), nil, false},
		"primaryPreferred at a secondary, another one":      {readpref.PrimaryPreferred(), member("m:1", s, "", 0), member("n:1", s, "", 0), false},
		"primaryPreferred at a secondary, the primary":      {readpref.PrimaryPreferred(), member("m:1", s, "", 0), member("n:1", p, "", 0), true},
		"primaryPreferred with tags, the primary has none":  {readpref.PrimaryPreferred(east), member("m:1", s, "east", 0), member("n:1", p, "west", 0), true},
		"primaryPreferred at the primary":                   {readpref.PrimaryPreferred(), member("m:1", p, "", 0), member("n:1", s, "", 0), false},
		"nearest has no fallback: the primary":              {readpref.Nearest(), member("m:1", p, "", 0), member("n:1", s, "", 0), false},
		"nearest has no fallback: a secondary":              {readpref.Nearest(), member("m:1", s, "", 0), member("n:1", p, "", 0), false},
		"secondary has none":                                {readpref.Secondary(), member("m:1", s, "", 0), member("n:1", p, "", 0), false},
		"its tags have changed":                             {readpref.Secondary(east), member("m:1", s, "west", 0), member("n:1", s, "east", 0), false},
		"nearest, the member is too stale":                  {readpref.Nearest(fresh), member("m:1", s, "", 81*time.Second), member("n:1", p, "", 0), true},
		"secondary, the member is too stale":                {readpref.Secondary(fresh), member("m:1", s, "", 81*time.Second), member("n:1", p, "", 0), true},
		"secondary, the member is as stale as it may be":    {readpref.Secondary(fresh), member("m:1", s, "", 80*time.Second), member("n:1", p, "", 0), false},
		"secondary without a limit":                         {readpref.Secondary(), member("m:1", s, "", time.Hour), member("n:1", p, "", 0), false},
		"without a primary, behind the freshest secondary":  {readpref.Secondary(fresh), member("m:1", s, "", 81*time.Second), member("n:1", s, "", 0), true},
		"primaryPreferred, too stale, and no primary known": {readpref.PrimaryPreferred(fresh), member("m:1", s, "", 81*time.Second), member("n:1", s, "", 0), true},
		"no preference":                                     {nil, member("m:1", p, "", 0), member("n:1", s, "", 0), false},
	} {
		topo := &topology.Description{Type: topology.ReplicaSetNoPrimary, Servers: []*topology.Server{c.pinned}}
		if c.other != nil {
			topo.Servers = append(topo.Servers, c.other)
		}
		want := &topology.Selection{ReadPref: c.preference, HeartbeatInterval: 10 * time.Second}
		if got := outlived(topo, c.pinned, want); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// readsOn is a request of reads with one preference.
type readsOn struct {
	w *world
	q *Request
	s topology.Selection
}

// member reads once and returns the member that answered.
func (r *readsOn) member() int {
	r.w.Helper()
	o := op(Read, constant("find", "c"))
	o.Request, o.Selection, o.ReadPreference = r.q, &r.s, r.s.ReadPref
	r.w.must(r.w.runner.Run(r.w.Context(), o))
	journal := r.w.set.Journal()
	return journal[len(journal)-1].Member
}

// requests are both kinds, and whether a pin that has outlived its use moves.
var requests = map[string]struct {
	begin func(*Runner) *Request
	moves bool
}{
	"reads only":     {(*Runner).NewReadsRequest, true},
	"an application": {(*Runner).NewRequest, false},
}

// Those of an application's request are the rules of 2014, without the additions.
func TestAPinOnAFallback(t *testing.T) {
	for name, c := range requests {
		t.Run(name, func(t *testing.T) {
			inside(t, func() (*mongotest.Deployment, error) {
				return mongotest.RunReplicaSet(3, mongotest.InMemory(), mongotest.Member(0, mongotest.Priority(2)), mongotest.Member(2, mongotest.Arbiter()))
			}, func(w *world) {
				q := c.begin(w.runner)
				if !q.readsOnly {
					defer q.End()
				}
				r := &readsOn{w, q, topology.Selection{ReadPref: readpref.SecondaryPreferred()}}
				w.set.Kill(1)
				w.pass(15 * time.Second)
				if got := r.member(); got != 0 {
					t.Fatalf("without a secondary member %d", got)
				}
				w.set.Restart(1)
				w.pass(30 * time.Second)
				if got := r.member(); (got == 1) != c.moves {
					t.Errorf("with a secondary member %d", got)
				}
			})
		})
	}
}

func TestAPinOnAMemberThatFallsBehind(t *testing.T) {
	for name, c := range requests {
		t.Run(name, func(t *testing.T) {
			inside(t, func() (*mongotest.Deployment, error) { return mongotest.RunReplicaSet(3, mongotest.InMemory()) }, func(w *world) {
				q := c.begin(w.runner)
				if !q.readsOnly {
					defer q.End()
				}
				r := &readsOn{w, q, topology.Selection{
					ReadPref: readpref.Secondary(readpref.WithMaxStaleness(90 * time.Second)), HeartbeatInterval: 10 * time.Second,
				}}
				w.pass(time.Second)
				pinned := r.member()
				w.set.SetLag(pinned, time.Hour)
				for i := range 20 {
					w.must(w.set.Insert("test.c", bson.D{{Key: "_id", Value: i}}))
					w.pass(10 * time.Second)
				}
				if got := r.member(); (got != pinned) != c.moves {
					t.Errorf("member %d was pinned and fell behind, then member %d answered", pinned, got)
				}
			})
		})
	}
}

func TestUnpinEndsThePin(t *testing.T) {
	inside(t, func() (*mongotest.Deployment, error) { return mongotest.RunReplicaSet(3, mongotest.InMemory()) }, func(w *world) {
		r := &readsOn{w, w.runner.NewReadsRequest(), topology.Selection{ReadPref: readpref.Nearest(), LocalThreshold: time.Second}}
		w.pass(time.Second)
		seen := make(map[int]bool)
		for range 100 {
			seen[r.member()] = true
		}
		if len(seen) != 1 {
			t.Errorf("%d members answered a request", len(seen))
		}
		for range 100 {
			r.q.Unpin()
			seen[r.member()] = true
		}
		if len(seen) != 3 {
			t.Errorf("%d members answered 100 requests", len(seen))
		}
	})
}

// pass lets the fake clock run.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
