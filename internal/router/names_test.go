package router

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A tracer keeps no name that no server accepts. That of a collection is made once while the client stays with it.
func TestTheNamesThatATracerGets(t *testing.T) {
	var p parser
	named := func(n int) *command {
		body := marshal(t, bson.D{{Key: "find", Value: strings.Repeat("x", n)}})
		return &command{ClientMessage: wire.ClientMessage{Name: "find", Body: body}}
	}
	for n, want := range map[int]int{1: 1, longestName: longestName, longestName + 1: 0} {
		if got := p.traceableCollection(named(n)); len(got) != want {
			t.Errorf("a collection of %d bytes: %q", n, got)
		}
		if got := traceable(strings.Repeat("x", n)); len(got) != want {
			t.Errorf("a name of %d bytes: %q", n, got)
		}
	}
	q := named(50)
	if allocs := testing.AllocsPerRun(100, func() { p.traceableCollection(q) }); allocs != 0 {
		t.Errorf("%v allocations for each command", allocs)
	}
}
