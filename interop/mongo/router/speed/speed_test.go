package speed

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
)

const (
	// Both processes are started several times: where one lies in memory changes its cost by more than what is measured.
	fewPairs      = 5
	manyPairs     = 15
	roundsOfAPair = 5

	many       = 32     // connections
	operations = 20_000 // of a sample of many connections
	alone      = 10_000 // of a sample of one
)

// inFull returns how often something is done: once where nothing is measured.
func inFull(n int) int {
	if testing.Short() {
		return 1
	}
	return n
}

// subject is one of the two programs that are compared.
type subject struct {
	process *serverprocess.Process
	address string
	conns   []net.Conn
}

func start(t *testing.T, name, upstream string) *subject {
	t.Helper()
	s := &subject{process: serverprocess.Start(t, name, role+"="+name, upstream)}
	s.address = s.process.Line(t)
	for range many {
		s.conns = append(s.conns, s.dial(t))
	}
	return s
}

// pairs starts two programs n times, and yields each pair of processes for five rounds.
func pairs(t *testing.T, n int, upstream, one, other string) iter.Seq2[*subject, *subject] {
	t.Helper()
	return func(yield func(*subject, *subject) bool) {
		for range inFull(n) {
			a, b := start(t, one, upstream), start(t, other, upstream)
			for range inFull(roundsOfAPair) {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// dial makes a connection.
func (s *subject) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// cpu returns the CPU time that the program has taken.
func (s *subject) cpu(t *testing.T) time.Duration {
	t.Helper()
	return time.Duration(s.ask(t, "cpu")) * time.Microsecond
}

// ask returns the number that the program answers.
func (s *subject) ask(t *testing.T, word string) int {
	t.Helper()
	fmt.Fprintln(s.process.In, word)
	n, err := strconv.Atoi(s.process.Line(t))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sample is what n finds cost.
type sample struct {
	wall, cpu time.Duration // of one
	median    time.Duration // of the time of a find
}

// measure makes n finds on some of the connections.
func (s *subject) measure(t *testing.T, connections, n int) sample {
	t.Helper()
	took := make([][]time.Duration, connections)
	before, began := s.cpu(t), time.Now()
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() { took[i] = finds(t, s.conns[i], n/connections) })
	}
	all.Wait()
	wall := time.Since(began)
	times := slices.Concat(took...)
	slices.Sort(times)
	return sample{wall: wall / time.Duration(n), cpu: (s.cpu(t) - before) / time.Duration(n), median: times[len(times)/2]}
}

// finds makes n finds, one after the other.
func finds(t *testing.T, c net.Conn, n int) []time.Duration {
	request, reply := canned.FindRequest(), make([]byte, 4<<10)
	took := make([]time.Duration, n)
	for i := range n {
		began := time.Now()
		binary.LittleEndian.PutUint32(request[4:], uint32(i+1))
		if _, err := c.Write(request); err != nil {
			t.Error(err)
			return took
		}
		var err error
		if reply, err = readMessage(c, reply); err != nil {
			t.Error(err)
			return took
		}
		if to := binary.LittleEndian.Uint32(reply[8:]); to != uint32(i+1) {
			t.Errorf("the reply is to %d, the find was %d", to, i+1)
			return took
		}
		took[i] = time.Since(began)
	}
	return took
}

func TestFigureOfTheSpeed(t *testing.T) {
	var throughput, cpu []float64
	for floor, router := range pairs(t, fewPairs, startCanned(t).Plain, "floor", "router") {
		f, r := floor.measure(t, many, inFull(operations/many)*many), router.measure(t, many, inFull(operations/many)*many)
		throughput = append(throughput, float64(f.wall)/float64(r.wall))
		cpu = append(cpu, float64(r.cpu)/float64(f.cpu))
		t.Logf("a find: floor %v, router %v", f, r)
	}
	fmt.Printf("figure router-throughput-vs-floor %.2f\n", median(throughput))
	fmt.Printf("figure router-cpu-vs-floor %.2f\n", median(cpu))
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func TestTheAllocationsOfAForwardedFind(t *testing.T) {
	const n = 3000
	upstream := startCanned(t).Plain
	for _, name := range []string{"router", "router with metrics"} {
		router := start(t, name, upstream)
		finds(t, router.conns[0], n)
		before := router.ask(t, "allocations")
		finds(t, router.conns[0], n)
		each := float64(router.ask(t, "allocations")-before) / n
		t.Logf("%s: %.2f allocations", name, each)
		if each > 2 {
			t.Errorf("%s: a forwarded find allocates %.2f times, over 2", name, each)
		}
	}
}
