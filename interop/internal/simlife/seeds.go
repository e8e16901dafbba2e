package simlife

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds     = flag.Int("seeds", 0, "how many seeds TestSimulation runs; 0 means a few")
	from      = flag.Uint64("from", 1, "the first seed")
	repeat    = flag.Int("repeat", 1, "how often each seed is run")
	tcp       = flag.Duration("tcp", 5*time.Second, "how long TestTCP lasts")
	histories = flag.String("histories", os.TempDir(), "the folder for the histories of lives that fail")
)

// FirstSeed is the first seed that is run.
func FirstSeed() uint64 { return *from }

// OfTCP is how long a life on real sockets lasts.
func OfTCP() time.Duration { return *tcp }

// Histories is the folder for the histories of lives that fail.
func Histories() string { return *histories }

// Seeds returns how many seeds to run: all of a test's own, unless the flags say how many or the test must be quick.
func Seeds(all int, race bool) int {
	switch {
	case *seeds > 0:
		return *seeds
	case testing.Short() && race:
		return 1
	case testing.Short() || race:
		return 2
	}
	return all
}

// Run leads a life from each of some seeds, at the same time, and prints the figures NAME-hours, how long the lives lasted together, and
// NAME-violations, how many rules they broke.
func Run(t *testing.T, name string, seeds int, lead func(t *testing.T, seed uint64) (lasted time.Duration, violations int)) {
	t.Helper()
	var lived, broken atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for i := range seeds * *repeat {
			seed := *from + uint64(i / *repeat)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				lasted, violations := lead(t, seed)
				lived.Add(int64(lasted))
				broken.Add(int64(violations))
			})
		}
	})
	fmt.Printf("figure %s-hours %.1f\n", name, time.Duration(lived.Load()).Hours())
	fmt.Printf("figure %s-violations %d\n", name, broken.Load())
}
