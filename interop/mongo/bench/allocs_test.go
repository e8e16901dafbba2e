package bench

import (
	"fmt"
	"testing"
)

// TestAllocations counts the allocations of one operation, by one goroutine on one connection, the server being another
// process. It says the same on any machine.
func TestAllocations(t *testing.T) {
	skipIfRace(t)
	clients := connectAll(t, startServer(t), 1)
	plain, deadline := load{workers: 1}, load{workers: 1, deadline: true}
	fmt.Printf("%-26s %10s %10s %10s\n", "", "raw", "ours", "official")
	for _, c := range []struct {
		cell
		most float64
	}{
		{cell{figure: "findone", pick: findOne, load: plain}, 7},
		{cell{figure: "insertone", pick: insertOne, load: plain}, 3},
		{cell{figure: "findone-deadline", pick: findOne, load: deadline}, 12},
		{cell{figure: "insertone-deadline", pick: insertOne, load: deadline}, 8},
	} {
		raw := c.load.floor().allocations(t, c.pick(clients[rawClient]))
		ours := c.load.allocations(t, c.pick(clients[oursClient]))
		official := c.load.allocations(t, c.pick(clients[officialClient]))
		fmt.Printf("%-26s %10.1f %10.1f %10.1f\n", c.figure, raw, ours, official)
		fmt.Printf("figure %s-allocs %.1f\n", c.figure, ours)
		fmt.Printf("figure official-%s-allocs %.1f\n", c.figure, official)
		holdAllocations(t, c.figure, ours, c.most)
	}
}

// holdAllocations allows the few allocations that a garbage collection causes, because it empties the pools of memory.
func holdAllocations(t *testing.T, name string, n, most float64) {
	t.Helper()
	if n <= 0 || n > most+0.1 {
		t.Errorf("%s makes %.2f allocations; it must make some, and at most %.1f", name, n, most)
	}
}
