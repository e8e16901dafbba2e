package bench

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
)

const (
	batchRounds    = 9
	batchesInTurn  = 15
	insertedInTurn = 100
)

// compareBatches measures operations on batches of documents, of which each takes many times as long as a round trip.
// Each round measures turn batches of ours, then the official driver's: both see the same state of the machine, so that the ratio of
// their CPU times is steady where the times are not.
func compareBatches(t *testing.T, ours, theirs operation, turn int) pair {
	t.Helper()
	r := result{costs: make(map[string][]cost)}
	for range rounds(batchRounds) {
		r.costs[oursClient] = append(r.costs[oursClient], batchCost(t, ours, turn))
		r.costs[officialClient] = append(r.costs[officialClient], batchCost(t, theirs, turn))
	}
	return pair{r}
}

// batchCost returns what one document of a batch costs.
func batchCost(t *testing.T, op operation, turn int) cost {
	t.Helper()
	one := load{workers: 1}
	one.run(t, op, 1)
	before := usage(t, nil)
	n := float64(one.run(t, op, sampled(turn)) * canned.BatchSize)
	after := usage(t, nil)
	return cost{cpu: time.Duration(float64(after.cpu-before.cpu) / n), allocations: (after.allocations - before.allocations) / n}
}

// pair is the result of a measurement of our client and of the official driver.
type pair struct{ result }

// ratio returns the median of the rounds' ratios of our cost to the official driver's.
func (p pair) ratio(of func(cost) float64) float64 {
	return p.result.ratio(of, oursClient, officialClient)
}

func printHead() { fmt.Printf("%-24s %22s %22s %8s\n", "", "ours", "official", "ratio") }

// print prints a row below printHead's.
func (p pair) print(name string) {
	fmt.Printf("%-24s %22s %22s %8.2f\n", name, p.typicalCost(oursClient), p.typicalCost(officialClient), p.ratio(cpu))
}

func (p pair) typicalCost(client string) string {
	return fmt.Sprintf("%v, %.1f allocs", time.Duration(p.typical(cpu, client)), p.typical(allocations, client))
}

// holdBar prints a figure that must be above 0, or else nothing was measured, and at most bar.
func holdBar(t *testing.T, figure string, value, bar float64) {
	t.Helper()
	fmt.Printf("figure %s %.2f\n", figure, value)
	if value <= 0 || value > bar {
		t.Errorf("%s is %.3f; it must be above 0 and at most %.2f", figure, value, bar)
	}
}

// timeMargin is how far a time may be from its bar before the test fails: times depend on the machine, and on what else it does.
const timeMargin = 1.5

// holdTimeBar is holdBar for a ratio of times, which has no bar with -short.
func holdTimeBar(t *testing.T, figure string, value, bar float64) {
	t.Helper()
	if value > bar {
		fmt.Printf("%s is above its bar, %.2f\n", figure, bar)
	}
	if testing.Short() {
		bar = math.Inf(1)
	}
	holdBar(t, figure, value, bar*timeMargin)
}

// insertBar is the most that our client may cost to insert a batch, as a fraction of the official driver's cost.
const insertBar = 0.25

// TestInserting measures the client's CPU time to insert 1,000 flat structs without an _id by InsertMany, as a fraction
// of the official driver's.
func TestInserting(t *testing.T) {
	skipIfRace(t)
	server := startServer(t)
	ours, theirs := connectOurs(t, plainly(server, 1)), connectOfficial(t, plainly(server, 1))
	p := compareBatches(t, ours.insertMany, theirs.insertMany, insertedInTurn)
	printHead()
	p.print("insert 1,000")
	holdTimeBar(t, "insert1000-vs-official-cpu", p.ratio(cpu), insertBar)
	fmt.Printf("figure insert1000-vs-official-allocs %.2f\n", p.ratio(allocations))
}
