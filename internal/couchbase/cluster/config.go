package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
	"github.com/holdfast-db/holdfast/retry"
)

// NetworkAuto is the network that is found by the address of the node that answered first.
const NetworkAuto = "auto"

// The limits and defaults of the times.
const (
	minRedial           = 10 * time.Millisecond
	maxRedial           = 5 * time.Second
	maxAnsweredRedial   = 40 * time.Millisecond  // after the loss of a connection that had been made
	seedPatience        = 500 * time.Millisecond // after this time without an answer the next seed is tried too
	maxBucketWait       = time.Second
	leaveGrace          = 3 * time.Millisecond // a node that left has this time at least for the next answer that is on its way
	maxLeaveGrace       = time.Second
	slowerAnswer        = 2 // as many times as its longest answer of late took
	leaveLook           = 500 * time.Microsecond
	fetchFloor          = 50 * time.Millisecond // a node asked within this time is not asked again
	defaultConnect      = 10 * time.Second
	defaultPoll         = 2500 * time.Millisecond
	defaultPollTimeout  = 500 * time.Millisecond
	defaultProbeTimeout = 5 * time.Second
	lookupTimeout       = 2500 * time.Millisecond
	defaultLoginTimeout = 2500 * time.Millisecond
)

// Config has the settings of a cluster. Every function in it must be safe for concurrent use.
type Config struct {
	// Seeds are the key-value addresses ("host:port") of the nodes at which the client begins. At least one.
	Seeds []string
	// SRV is the name of a service record that may name the seeds, "" for none. Resolve returns the record's addresses ("host:port"); if
	// it returns none, or an error, Seeds are used.
	SRV     string
	Resolve func(ctx context.Context, name string) ([]string, error)
	// Shuffle puts the seeds into a random order. Nil: rand.Shuffle.
	Shuffle func(n int, swap func(i, j int))
	// Network is NetworkAuto (or ""), clustermap.DefaultNetwork, or the name of an alternate network.
	Network string
	// KV configures the connections. LateBucket, OnMap and OnClose are set by this package. A Timeout of 0 means 10 s.
	KV kv.Config
	// PollInterval is the time between two polls for a newer map; 0 means 2.5 s, and a negative one that there is no poll. It is not
	// shorter than 50 ms. PollTimeout is how long one node is waited for; 0 means 500 ms.
	PollInterval, PollTimeout time.Duration
	// Breaker configures the breakers of the endpoints. Nil: they have none.
	Breaker *Breaker
	// LoginTimeout is how long the answer to the renewal of a login is waited for; 0 means 2.5 s. See [Cluster.CredentialChanged].
	LoginTimeout time.Duration
	// Pools counts the connections. Nil: the cluster has its own.
	Pools *pools.Pools
}

// Breaker configures the breakers of the endpoints.
type Breaker struct {
	// Options are the engine's. Judge and OnChange are not used.
	Options retry.BreakerOptions
	// Good reports whether an attempt that ended with this error, nil for a success, shows that the endpoint works. Nil: all but a
	// timeout do.
	Good func(err error) bool
	// ProbeTimeout is how long the probe's answer is waited for; 0 means 5 s.
	ProbeTimeout time.Duration
}

// check returns an error that names the field and the rule that it breaks.
func (c *Config) check() error {
	switch {
	case len(c.Seeds) == 0:
		return errors.New("no Seeds; there must be an address")
	case c.PollTimeout < 0:
		return fmt.Errorf("PollTimeout is %v; it must not be negative", c.PollTimeout)
	case c.LoginTimeout < 0:
		return fmt.Errorf("LoginTimeout is %v; it must not be negative", c.LoginTimeout)
	case c.Breaker == nil:
		return nil
	case c.Breaker.ProbeTimeout < 0:
		return fmt.Errorf("Breaker.ProbeTimeout is %v; it must not be negative", c.Breaker.ProbeTimeout)
	}
	_, err := retry.NewBreaker(c.Breaker.Options)
	return err
}

func (c *Config) pollInterval() time.Duration {
	switch {
	case c.PollInterval == 0:
		return defaultPoll
	case c.PollInterval < 0:
		return 0
	}
	return max(c.PollInterval, fetchFloor)
}

func (c *Config) pollTimeout() time.Duration {
	if c.PollTimeout == 0 {
		return defaultPollTimeout
	}
	return c.PollTimeout
}

func (c *Config) loginTimeout() time.Duration {
	if c.LoginTimeout == 0 {
		return defaultLoginTimeout
	}
	return c.LoginTimeout
}

// fixedNetwork returns the network that is configured, or "" if it must be found.
func (c *Config) fixedNetwork() string {
	if c.Network == NetworkAuto {
		return ""
	}
	return c.Network
}
