package cluster

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// withIdleConn returns a server whose pool has one idle connection.
func withIdleConn(t testing.TB) *Server {
	s := bareOn(t, Config{
		Dialer: network{addrA: {hello: standalone()}}, Topology: topology.Config{Seeds: []string{addrA}},
	})
	found(t, s, standalone())
	if err := operation(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func noAllocations(t *testing.T, what string, f func()) {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	if n := testing.AllocsPerRun(1000, f); n != 0 {
		t.Errorf("%s: %v allocations, want 0", what, n)
	}
}

func TestCheckOutAndCheckInOfAnIdleConnectionDoNotAllocate(t *testing.T) {
	s := withIdleConn(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	noAllocations(t, "checkout and checkin", func() {
		c, err := s.CheckOut(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.CheckIn(c)
	})
	counters(t, s, 1, 1, 0)
}

func TestSelectDoesNotAllocate(t *testing.T) {
	c := &Cluster{}
	d := &topology.Description{Type: topology.ReplicaSetWithPrimary}
	snapshot := &Snapshot{Description: d}
	for i, address := range []string{addrA, addrB, addrC} {
		kind := topology.RSSecondary
		if i == 0 {
			kind = topology.RSPrimary
		}
		d.Servers = append(d.Servers, &topology.Server{Address: address, Type: kind, HasRTT: true, MaxWireVersion: 25})
		snapshot.servers = append(snapshot.servers, &Server{address: address})
	}
	c.snapshot.Store(snapshot)
	for name, want := range map[string]*topology.Selection{
		"a write": write, "a read from the nearest": {ReadPref: readpref.Nearest()},
		"a read from a secondary": {ReadPref: readpref.Secondary(), Deprioritized: []string{addrB}},
	} {
		noAllocations(t, name, func() {
			if target, err := c.Select(context.Background(), want); err != nil || target.Server == nil {
				t.Fatal(err)
			}
		})
	}
}

func BenchmarkCheckOutAndIn(b *testing.B) {
	s := withIdleConn(b)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		c, err := s.CheckOut(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		s.CheckIn(c)
	}
}
