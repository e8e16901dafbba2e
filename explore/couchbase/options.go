package explore

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore/couchbasefault"
	"github.com/holdfast-db/holdfast/internal/explore/testrun"
)

// Option sets something about an exploration.
type Option func(*config)

type config struct {
	testrun.Settings
	site couchbasefault.Settings
}

func newConfig(opts []Option) (*config, error) {
	c := &config{Settings: testrun.Defaults, site: couchbasefault.Settings{Nodes: 3, Failures: All()}}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("explore: Run: option %d is nil", i)
		}
		o(c)
	}
	c.site.InMemory = c.InMemory
	if err := c.Complete(); err != nil {
		return nil, err
	}
	return c, c.site.Check()
}

// InMemory makes each run a bubble of testing/synctest, in which waits take no time; see the documentation of the package. The program
// must connect through [Exploration.Dialer].
func InMemory() Option { return func(c *config) { c.InMemory = true } }

// Nodes sets how many nodes the cluster of each run has. Without it there are 3.
func Nodes(n int) Option { return func(c *config) { c.site.Nodes = n } }

// Buckets sets the buckets of the cluster. Without it there is one, "default", with one replica.
func Buckets(buckets ...couchbasetest.Bucket) Option {
	return Server(couchbasetest.Buckets(buckets...))
}

// Server adds options of the cluster, such as couchbasetest.Version. Without couchbasetest.VBuckets a bucket has 16 vbuckets.
func Server(opts ...couchbasetest.Option) Option {
	return func(c *config) { c.site.Server = append(c.site.Server, opts...) }
}

// Failures sets the failures that are explored. Without it they are those of [All].
func Failures(list ...Failure) Option { return func(c *config) { c.site.Failures = list } }

// Messages sets to which messages failures happen: those for which chosen returns true. Without it that is every message but those
// that SDKs send for themselves. It is called from several goroutines at once.
func Messages(chosen func(Message) bool) Option { return func(c *config) { c.Chosen = chosen } }

// Depth sets how many failures a run has at most; without it that is 1. Every case with one failure is run. Of the cases with more,
// [Samples] are drawn: each goes on from a case that held, with a failure at a message that came after its last one.
func Depth(failures int) Option { return func(c *config) { c.Depth = failures } }

// Samples sets how many cases with two failures are drawn, how many with three, and so on; without it 200.
func Samples(n int) Option { return func(c *config) { c.Samples = n } }

// Seed sets what the samples are drawn with; without it 1. The same seed draws the same cases from the same messages.
func Seed(seed int64) Option { return func(c *config) { c.Seed = seed } }

// Parallel sets how many runs go at once; without it as many as GOMAXPROCS with [InMemory], and four times that over TCP, where most wait.
func Parallel(runs int) Option { return func(c *config) { c.Parallel = runs } }

// Budget sets how long a run may take; without it 30 s, and with [InMemory] an hour of the fake clock. One that takes longer is reported
// as hung.
func Budget(d time.Duration) Option { return func(c *config) { c.Budget = d } }

// AllowLeaks permits goroutines that the function started to be left at its end, if it cannot end them: those of a global that is made
// when it is first used, for example. It has no effect with [InMemory], where each goroutine must end with its bubble.
func AllowLeaks() Option { return func(c *config) { c.MayLeak = true } }
