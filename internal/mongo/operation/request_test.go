package operation

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Read Preferences, "Requests": the sentences about the end of a pin.
func TestAPinOfARequestIsValid(t *testing.T) {
	term := func(n byte) bson.ObjectID { return bson.ObjectID{11: n} }
	first := primaryID{address: "p:1", election: term(1)}
	tagged := func(name string) *readpref.ReadPref {
		return readpref.Nearest(readpref.WithTagSets(tag.Set{{Name: "dc", Value: name}}))
	}
	for name, c := range map[string]struct {
		pinned, now *readpref.ReadPref
		kind        topology.ServerType
		primary     primaryID
		want        bool
	}{
		"nothing changed":                       {readpref.Nearest(), readpref.Nearest(), topology.RSSecondary, first, true},
		"nil is primary":                        {nil, readpref.Primary(), topology.RSPrimary, first, true},
		"primary is nil":                        {readpref.Primary(), nil, topology.RSPrimary, first, true},
		"another mode":                          {readpref.Nearest(), readpref.Secondary(), topology.RSSecondary, first, false},
		"a mode instead of nil":                 {nil, readpref.Nearest(), topology.RSPrimary, first, false},
		"the same tags":                         {tagged("east"), tagged("east"), topology.RSSecondary, first, true},
		"other tags":                            {tagged("east"), tagged("west"), topology.RSSecondary, first, false},
		"another limit of staleness":            {readpref.Nearest(readpref.WithMaxStaleness(90 * time.Second)), readpref.Nearest(), topology.RSSecondary, first, false},
		"the member is down":                    {readpref.Nearest(), readpref.Nearest(), topology.Unknown, first, false},
		"the member is an arbiter":              {readpref.Nearest(), readpref.Nearest(), topology.RSArbiter, first, false},
		"a secondary became the primary":        {readpref.Secondary(), readpref.Secondary(), topology.RSPrimary, first, false},
		"the primary became a secondary":        {nil, nil, topology.RSSecondary, first, false},
		"secondaryPreferred stays at a primary": {readpref.SecondaryPreferred(), readpref.SecondaryPreferred(), topology.RSPrimary, first, true},
		"primaryPreferred stays at a secondary": {readpref.PrimaryPreferred(), readpref.PrimaryPreferred(), topology.RSSecondary, first, true},
		"another primary":                       {readpref.Nearest(), readpref.Nearest(), topology.RSSecondary, primaryID{"q:1", term(2)}, false},
		"the same primary in another term":      {readpref.Nearest(), readpref.Nearest(), topology.RSSecondary, primaryID{"p:1", term(2)}, false},
		"no primary at the moment":              {readpref.Nearest(), readpref.Nearest(), topology.RSSecondary, primaryID{}, true},
	} {
		member := &topology.Server{Address: "m:1", Type: c.kind}
		topo := &topology.Description{Type: topology.ReplicaSetWithPrimary, Servers: []*topology.Server{member}}
		if c.primary != (primaryID{}) && c.kind != topology.RSPrimary {
			topo.Servers = append(topo.Servers, &topology.Server{
				Address: c.primary.address, Type: topology.RSPrimary, ElectionID: c.primary.election,
			})
		}
		pin := memberPin{address: "m:1", preference: c.pinned, primary: first}
		if c.kind == topology.RSPrimary { // the member itself
			pin.primary = primaryOf(topo)
		}
		if got := pin.valid(topo, member, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Two reads that begin at the same time may go to two members.
func TestTheFirstReadThatSucceedsPinsTheRequest(t *testing.T) {
	q := &Request{}
	for _, address := range []string{"a:1", "b:1"} {
		q.succeeded(cluster.Target{Description: &topology.Server{Address: address}, Topology: &topology.Description{}}, readpref.Nearest())
	}
	if q.pin.address != "a:1" {
		t.Errorf("the request is pinned to %s", q.pin.address)
	}
}

// An operation may be under way when its request ends: it gives its connection back by itself.
func TestAnOperationOfARequestThatHasEndedKeepsNoConnection(t *testing.T) {
	in(t, func(w *world) {
		q := w.runner.NewRequest()
		q.End()
		o := op(Read, constant("find", "c"))
		o.Request = q
		w.must(w.runner.Run(w.Context(), o))
		if held := <-q.primary; held.conn != nil {
			t.Error("the request keeps a connection")
		}
	})
}

func TestAnOperationThatWaitsForTheConnectionOfItsRequestEndsWithItsContext(t *testing.T) {
	in(t, func(w *world) {
		q := w.runner.NewRequest()
		defer q.End()
		held := <-q.primary // another operation uses it
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		o := op(Read, constant("find", "c"))
		o.Request = q
		began := time.Now()
		if err := w.runner.Run(ctx, o); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		q.primary <- held
	})
}

// Driver Sessions, "Server Session Pool". The time that counts is that of the operation: a request may keep its connection for long.
func TestAnOperationOfARequestDoesNotReuseAnExpiredSession(t *testing.T) {
	in(t, func(w *world) {
		q := w.runner.NewRequest()
		defer q.End()
		find := func() bson.RawValue {
			o := op(Read, constant("find", "c"))
			o.Request = q
			w.must(w.runner.Run(w.Context(), o))
			return w.last("lsid")
		}
		old := find()
		<-time.After(30 * time.Minute)
		if find().Equal(old) {
			t.Errorf("the session %v is used after 30 minutes", old)
		}
	})
}
