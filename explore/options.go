package explore

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
	"github.com/holdfast-db/holdfast/internal/explore/testrun"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Option sets something about an exploration.
type Option func(*config)

type config struct {
	testrun.Settings
	site mongofault.Settings
	size error // of the option that sets how many servers there are
}

func newConfig(opts []Option) (*config, error) {
	c := &config{Settings: testrun.Defaults, site: mongofault.Settings{Members: 3, Failures: All()}}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("explore: Run: option %d is nil", i)
		}
		o(c)
	}
	if c.size != nil {
		return nil, c.size
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

// setSize sets how many servers there are.
func (c *config) setSize(option string, members, mongos, leastMongos int) {
	c.site.Members, c.site.Mongos, c.size = members, mongos, nil
	switch {
	case members < 1 || members > 7:
		c.size = fmt.Errorf("explore: %s: the number of members is %d; it must be 1 to 7", option, members)
	case mongos < leastMongos:
		c.size = fmt.Errorf("explore: %s: the number of mongoses is %d; it must be at least %d", option, mongos, leastMongos)
	}
}

// Standalone makes the server of each run a standalone. Without it that is a replica set of three members.
func Standalone() Option {
	return func(c *config) { c.site.Members, c.site.Mongos, c.size = 0, 0, nil }
}

// ReplicaSet makes the servers of each run a replica set, 1 to 7 members.
func ReplicaSet(members int) Option {
	return func(c *config) { c.setSize("ReplicaSet", members, 0, 0) }
}

// Sharded makes the servers of each run a sharded cluster with one shard, of 1 to 7 members, and one mongos or more.
func Sharded(members, mongos int) Option {
	return func(c *config) { c.setSize("Sharded", members, mongos, 1) }
}

// Server adds options of the servers, such as mongotest.Version.
func Server(opts ...mongotest.Option) Option {
	return func(c *config) { c.site.Server = append(c.site.Server, opts...) }
}

// Failures sets the failures that are explored. Without it they are those of [All].
func Failures(list ...Failure) Option { return func(c *config) { c.site.Failures = list } }

// Messages sets to which messages failures happen: those for which chosen returns true. Without it that is every message but those that
// drivers send for themselves, such as hello and endSessions. It is called from several goroutines at once.
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
