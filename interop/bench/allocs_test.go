package bench

import (
	"fmt"
	"testing"
)

const allocBar = 12

// TestAllocations counts the allocations of one operation, by one goroutine on one connection, the server being another
// process. It says the same on any machine.
func TestAllocations(t *testing.T) {
	skipIfRace(t)
	clients := connectAll(t, startServer(t), 1)
	plain, deadline := load{workers: 1}, load{workers: 1, deadline: true}
	fmt.Printf("%-26s %10s %10s %10s\n", "", "raw", "ours", "official")
	for _, c := range []cell{
		{figure: "findone", pick: findOne, load: plain},
		{figure: "insertone", pick: insertOne, load: plain},
		{figure: "findone-deadline", pick: findOne, load: deadline},
		{figure: "insertone-deadline", pick: insertOne, load: deadline},
	} {
		raw := c.load.floor().allocations(t, c.pick(clients[rawClient]))
		ours := c.load.allocations(t, c.pick(clients[oursClient]))
		official := c.load.allocations(t, c.pick(clients[officialClient]))
		fmt.Printf("%-26s %10.1f %10.1f %10.1f\n", c.figure, raw, ours, official)
		fmt.Printf("figure %s-allocs %.1f\n", c.figure, ours)
		fmt.Printf("figure official-%s-allocs %.1f\n", c.figure, official)
		if !c.load.deadline && ours > allocBar {
			t.Errorf("%s-allocs is %.1f; it must be at most %d", c.figure, ours, allocBar)
		}
	}
}
