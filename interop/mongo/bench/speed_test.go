package bench

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/instructions"
)

const (
	allRounds  = 7
	manyOnMany = 32
)

// rounds returns how many rounds a measurement has: with -short one, which is enough to judge instructions and allocations.
func rounds(n int) int {
	if testing.Short() {
		return 1
	}
	return n
}

// cell is one measurement: an operation under a load. Without bars it is printed only.
type cell struct {
	figure string
	pick   func(client) operation
	load   load
	bars   bars
}

func findOne(c client) operation   { return c.findOne }
func insertOne(c client) operation { return c.insertOne }
func ping(c client) operation      { return c.ping }

// TestSpeed measures what an operation costs this process, the server being another: user-space instructions, CPU time
// (user and system) and allocations; 20,000 operations or more a sample, by 32 goroutines on 32 connections; a document
// of six fields and some hundred bytes, decoded into a struct or encoded from one. Each round measures the same bytes on
// a bare socket, then our client, then the official driver; a figure is the median of seven rounds; with -short there is one.
//
// It judges the instructions as a fraction of the official driver's: they are the same within 3 % on any machine, while
// the CPU time of one binary doubles as the kernel and the host place its threads. Where instructions cannot be counted
// it says so, and judges the allocations as a fraction of the official driver's instead.
//
// The bare socket has no deadline even where the clients have one: it is the same floor under all four, so that what a
// deadline costs shows whole.
func TestSpeed(t *testing.T) {
	skipIfRace(t)
	many, deadline := load{workers: manyOnMany}, load{workers: manyOnMany, deadline: true}
	measureCells(t, []cell{
		{"findone", findOne, many, bars{0.12, 0.08}},
		{"insertone", insertOne, many, bars{0.12, 0.05}},
		{"findone-deadline", findOne, deadline, bars{0.15, 0.12}},
		{"insertone-deadline", insertOne, deadline, bars{}},
		{"ping", ping, many, bars{}},
	})
}

// TestSpeedAlone is TestSpeed with one goroutine on one connection.
func TestSpeedAlone(t *testing.T) {
	skipIfRace(t)
	if testing.Short() {
		t.Skip("printed only, and it takes a minute")
	}
	one, deadline := load{workers: 1}, load{workers: 1, deadline: true}
	measureCells(t, []cell{
		{"findone-alone", findOne, one, bars{}},
		{"insertone-alone", insertOne, one, bars{}},
		{"findone-alone-deadline", findOne, deadline, bars{}},
		{"insertone-alone-deadline", insertOne, deadline, bars{}},
	})
}

func measureCells(t *testing.T, cells []cell) {
	t.Helper()
	counter := openCounter(t)
	clients := connectAll(t, startServer(t), cells[0].load.workers)
	fmt.Printf("%-26s %10s %14s %12s\n", "", "CPU", "instructions", "allocations")
	for _, c := range cells {
		t.Run(c.figure, func(t *testing.T) {
			r := c.measure(t, counter, clients)
			r.print(c.figure)
			if c.bars == (bars{}) {
				return
			}
			if err := r.judge(c.figure, c.bars); err != nil {
				t.Error(err)
			}
		})
	}
}

// openCounter returns nil, and says so, if instructions cannot be counted here.
func openCounter(t *testing.T) *instructions.Counter {
	t.Helper()
	counter, err := instructions.Open()
	if errors.Is(err, instructions.ErrUnsupported) {
		fmt.Printf("%v: allocations are judged instead\n", err)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counter.Close() })
	return counter
}

func (c cell) measure(t *testing.T, counter *instructions.Counter, clients map[string]client) result {
	t.Helper()
	r := result{counted: counter != nil, costs: make(map[string][]cost)}
	for range rounds(allRounds) {
		for _, name := range []string{rawClient, oursClient, officialClient} {
			l := c.load
			if name == rawClient {
				l = l.floor()
			}
			r.costs[name] = append(r.costs[name], l.cost(t, counter, c.pick(clients[name]), operations))
		}
	}
	return r
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func skipIfRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("measurements mean nothing under the race detector")
	}
}
