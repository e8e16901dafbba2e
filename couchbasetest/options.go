package couchbasetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// Option sets something about a cluster.
type Option func(*config)

type config struct {
	nodes                  int
	vbuckets               int  // of all buckets, if sized
	sized                  bool // VBuckets was given
	inMemory               bool
	latencyMin, latencyMax time.Duration
	seed                   uint64
	username, password     string
	tokens                 []string
	withTokens             bool // Tokens was given
	buckets                []Bucket
	wantVersion            string
	profile                *profile
	journalLimit           int
	lag, saving            time.Duration
	bareRefusals           bool
	iterations             int
	withTLS                bool
	external               bool
	groups                 []string
	listens                bool // Listen was given
	host                   string
	port                   int
}

func newConfig(opts []Option) (config, error) {
	c := config{
		nodes: 1, seed: 1, username: "Administrator", password: "password", wantVersion: newestVersion,
		journalLimit: 100_000, iterations: 4096,
	}
	for _, o := range opts {
		if o == nil {
			return c, errors.New("couchbasetest: one of the options is nil")
		}
		o(&c)
	}
	if c.buckets == nil {
		c.buckets = []Bucket{{Name: "default", Replicas: 1}}
	}
	return c, c.check()
}

func (c *config) check() (err error) {
	if c.profile, err = profileOf(c.wantVersion); err != nil {
		return err
	}
	switch {
	case c.nodes < 1:
		return fmt.Errorf("couchbasetest: Nodes(%d): a cluster has at least one node", c.nodes)
	case c.sized && (c.vbuckets < 1 || c.vbuckets > clustermap.MaxVBuckets):
		return fmt.Errorf("couchbasetest: VBuckets(%d): there are 1 to %d", c.vbuckets, clustermap.MaxVBuckets)
	case c.username == "" || c.password == "":
		return errors.New("couchbasetest: Credentials: the name or the password is empty")
	case c.latencyMin < 0 || c.latencyMax < c.latencyMin:
		return fmt.Errorf("couchbasetest: Latency(%v, %v): the first must not be negative or above the second", c.latencyMin, c.latencyMax)
	case c.latencyMax > 0 && !c.inMemory:
		return errors.New("couchbasetest: Latency needs InMemory")
	case c.lag < 0 || c.saving < 0:
		return errors.New("couchbasetest: ReplicationLag and PersistenceLag must not be negative")
	}
	if err := errors.Join(c.checkListen(), c.checkTokens()); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for i := range c.buckets {
		if err := c.buckets[i].check(); err != nil {
			return err
		}
		if seen[c.buckets[i].Name] {
			return fmt.Errorf("couchbasetest: the bucket %q is there twice", c.buckets[i].Name)
		}
		seen[c.buckets[i].Name] = true
	}
	return nil
}

// network returns the network in memory, nil if the cluster is on TCP.
func (c *config) network() *memnet.Network {
	if !c.inMemory {
		return nil
	}
	return memnet.New(memnet.Config{MinLatency: c.latencyMin, MaxLatency: c.latencyMax, Seed: c.seed})
}

// Nodes sets how many nodes the cluster has. Without it there is one.
func Nodes(n int) Option { return func(c *config) { c.nodes = n } }

// VBuckets sets how many vbuckets each bucket has. Without it there are 1,024, or 128 if the bucket is one of magma and the servers are of 8.0
// or newer; a bucket that the management service makes has as many as its form says.
func VBuckets(n int) Option { return func(c *config) { c.vbuckets, c.sized = n, true } }

// InMemory makes the nodes open no socket. Only their [Dialer] reaches them.
func InMemory() Option { return func(c *config) { c.inMemory = true } }

// Latency sets how long bytes travel on the network in memory, in each direction: a random time from least to most for each write.
// It needs the option InMemory.
func Latency(least, most time.Duration) Option {
	return func(c *config) { c.latencyMin, c.latencyMax = least, most }
}

// Seed sets the seed of the random numbers: of latencies, ids and vbucket uuids. Without it the seed is 1.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// Credentials sets the name and the password of the administrator. Without it they are "Administrator" and "password".
func Credentials(username, password string) Option {
	return func(c *config) { c.username, c.password = username, password }
}

// Buckets sets the buckets of the cluster. Without it there is one, "default", with one replica. Without arguments there are none.
func Buckets(buckets ...Bucket) Option {
	return func(c *config) { c.buckets = append([]Bucket{}, buckets...) }
}

// Version sets the version of the server that the nodes behave as, for example "6.6" or "7.6.4": which features they accept, what a
// cluster map says, which error map they have, and what new buckets are. Without it they are of the newest version.
func Version(version string) Option { return func(c *config) { c.wantVersion = version } }

// ReplicationLag sets how long a write takes from the active node to a replica. Without it replicas have it at once.
func ReplicationLag(lag time.Duration) Option { return func(c *config) { c.lag = lag } }

// PersistenceLag sets how long a write takes from memory to disk. Without it it is there at once.
func PersistenceLag(lag time.Duration) Option { return func(c *config) { c.saving = lag } }

// BareRefusals makes nodes refuse requests for vbuckets that they do not have without the cluster map in the answer.
func BareRefusals() Option { return func(c *config) { c.bareRefusals = true } }

// JournalLimit sets how many entries [Cluster.Journal] keeps, the newest. Without it it keeps 100,000.
func JournalLimit(n int) Option { return func(c *config) { c.journalLimit = max(n, 0) } }
