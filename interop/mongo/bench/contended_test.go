package bench

import (
	"fmt"
	"testing"
	"time"
)

const (
	contendedRounds      = 7
	contendedOperations  = 20_000
	contendedGoroutines  = 1_000
	contendedConnections = 5
	// contendedBar is the least that our client's throughput may be as a multiple of the official driver's.
	contendedBar = 2.0
)

// TestContended measures how many FindOnes a second 1,000 goroutines do on five connections: most of them wait for a
// connection. Each round measures ours, then the official driver's; the figure is the median of the rounds' ratios. What
// decides is the client's CPU time for each operation, which is printed too.
func TestContended(t *testing.T) {
	skipIfRace(t)
	server := startServer(t)
	ours := connectOurs(t, plainly(server, contendedConnections))
	official := connectOfficial(t, plainly(server, contendedConnections))
	var speeds, ourSpeeds, theirSpeeds []float64
	p := pair{result{costs: make(map[string][]cost)}}
	for range rounds(contendedRounds) {
		our, ourCost := contend(t, ours.findOne)
		their, theirCost := contend(t, official.findOne)
		ourSpeeds, theirSpeeds, speeds = append(ourSpeeds, our), append(theirSpeeds, their), append(speeds, our/their)
		p.costs[oursClient] = append(p.costs[oursClient], ourCost)
		p.costs[officialClient] = append(p.costs[officialClient], theirCost)
	}
	printHead()
	p.print("findone, contended")
	fmt.Printf("operations a second: ours %.0f, official %.0f\n", median(ourSpeeds), median(theirSpeeds))
	ratio := median(speeds)
	fmt.Printf("figure contended-throughput-vs-official %.2f\n", ratio)
	if least := contendedBar / timeMargin; !testing.Short() && ratio < least {
		t.Errorf("contended-throughput-vs-official is %.2f; it must be at least %.2f", ratio, least)
	}
}

// contend returns the operations a second of a client, and what one costs.
func contend(t *testing.T, op operation) (float64, cost) {
	t.Helper()
	l := load{workers: contendedGoroutines}
	l.run(t, op, contendedGoroutines)
	began, before := time.Now(), usage(t, nil)
	n := float64(l.run(t, op, sampled(contendedOperations)))
	elapsed, after := time.Since(began), usage(t, nil)
	return n / elapsed.Seconds(), cost{
		cpu: time.Duration(float64(after.cpu-before.cpu) / n), allocations: (after.allocations - before.allocations) / n,
	}
}

// manyBar is the most that an operation may cost among 32 goroutines, as a multiple of its cost with one.
const manyBar = 1

// TestManyGoroutines measures the CPU time of an operation of our client among 32 goroutines on 32 connections, as a
// fraction of its CPU time with one goroutine on one: no lock or queue may make the many pay.
func TestManyGoroutines(t *testing.T) {
	skipIfRace(t)
	server := startServer(t)
	many, one := connectOurs(t, plainly(server, manyOnMany)), connectOurs(t, plainly(server, 1))
	for _, c := range []struct {
		figure string
		pick   func(client) operation
	}{{"findone", findOne}, {"insertone", insertOne}} {
		var ratios []float64
		for range rounds(allRounds) {
			among := load{workers: manyOnMany}.cost(t, nil, c.pick(many), sampled(operations))
			alone := load{workers: 1}.cost(t, nil, c.pick(one), sampled(operations))
			ratios = append(ratios, cpu(among)/cpu(alone))
		}
		holdTimeBar(t, c.figure+"-many-vs-one-cpu", median(ratios), manyBar)
	}
}
