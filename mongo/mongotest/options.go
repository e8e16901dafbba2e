package mongotest

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/mutant"
)

// Option sets something about a replica set.
type Option func(*config)

type config struct {
	members         int
	promised        *int // how many members RunReplicaSetT was told
	inMemory        bool
	standalone      bool
	setName         string
	electionTimeout time.Duration
	replication     time.Duration
	latencyMin      time.Duration
	latencyMax      time.Duration
	seed            int64
	journalLimit    int
	transcript      int
	patience        time.Duration // of a pipe
	journalKey      func(command string, statement bson.Raw) string
	compressors     []string
	users           []User
	requireAuth     bool
	startParameters map[string]string
	tls             bool
	addresses       []string
	listeners       []net.Listener
	uninitiated     bool
	processes       *Processes
	sharded         bool
	mongos          int
	setups          map[int][]MemberOption
	initial         []memberSetup // of all members
	modes           map[string]map[string]int
	wantVersion     string
	version         version
	mutant          mutant.Server
}

func newConfig(opts []Option) (config, error) {
	c := config{members: 1, setName: "rs0", electionTimeout: 10 * time.Second, seed: 1, journalLimit: 100_000, compressors: compressors}
	for _, o := range opts {
		if o == nil {
			return c, errors.New("mongotest: one of the options is nil")
		}
		o(&c)
	}
	c.version = newestVersion
	for _, check := range []func() error{
		c.readVersion, c.checkSize, c.checkParameters, c.setUpMembers, c.checkCompressors, c.checkServers, c.checkListening, c.checkLatency,
		c.checkLimits,
	} {
		if err := check(); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *config) readVersion() (err error) {
	if c.wantVersion != "" {
		c.version, err = parseVersion(c.wantVersion)
	}
	return err
}

func (c *config) checkSize() error {
	switch {
	case c.promised != nil && c.members != *c.promised:
		return fmt.Errorf("mongotest: RunReplicaSetT with %d members and Members(%d) contradict each other", *c.promised, c.members)
	case c.standalone && c.members != 1:
		return fmt.Errorf("mongotest: Members(%d) and Standalone exclude each other", c.members)
	case c.members < 1 || c.members > maxMembers:
		return fmt.Errorf("mongotest: Members(%d): a set has 1 to %d members", c.members, maxMembers)
	case !c.standalone && c.setName == "":
		return errors.New("mongotest: SetName: the name is empty")
	}
	return nil
}

func (c *config) checkCompressors() error {
	for _, name := range c.compressors {
		if _, ok := wire.CompressorNamed(name); !ok {
			return fmt.Errorf("mongotest: Compressors: there is no compressor %q; there are snappy, zstd and zlib", name)
		}
	}
	return nil
}

// checkServers refuses kinds of servers that exclude each other.
func (c *config) checkServers() error {
	switch p := c.processes; {
	case c.sharded && c.mongos < 1:
		return fmt.Errorf("mongotest: Sharded(%d): a sharded cluster has at least 1 mongos", c.mongos)
	case c.sharded && (c.standalone || c.uninitiated):
		return errors.New("mongotest: Sharded excludes Standalone and Uninitiated")
	case c.uninitiated && c.standalone:
		return errors.New("mongotest: Uninitiated and Standalone exclude each other")
	case p != nil && (!c.uninitiated || c.members != 1 || c.addresses == nil):
		return errors.New("mongotest: Processes needs Uninitiated, Members(1) and Listen")
	case p != nil && (p.IsSelf == nil || p.Join == nil):
		return errors.New("mongotest: WithProcesses: IsSelf or Join is nil")
	}
	return nil
}

func (c *config) checkListening() error {
	switch n := len(c.addresses); {
	case n > 0 && c.inMemory:
		return errors.New("mongotest: Listen and InMemory exclude each other")
	case n > 0 && n != c.members+c.mongos:
		return fmt.Errorf("mongotest: Listen: %d addresses for %d members and %d mongos", n, c.members, c.mongos)
	case c.listeners != nil && len(c.listeners) != n:
		return fmt.Errorf("mongotest: Accept: %d listeners for the %d addresses of Listen", len(c.listeners), n)
	}
	if i := slices.Index(c.listeners, nil); i >= 0 {
		return fmt.Errorf("mongotest: Accept: listener %d is nil", i)
	}
	return nil
}

func (c *config) checkLatency() error {
	switch {
	case c.latencyMin < 0 || c.latencyMax < c.latencyMin:
		return fmt.Errorf("mongotest: Latency(%v, %v): the least is negative or above the most", c.latencyMin, c.latencyMax)
	case c.latencyMax > 0 && !c.inMemory:
		return errors.New("mongotest: Latency needs InMemory")
	}
	return nil
}

func (c *config) checkLimits() error {
	switch {
	case c.electionTimeout <= 0:
		return fmt.Errorf("mongotest: ElectionTimeout(%v): it must be positive", c.electionTimeout)
	case c.replication < 0:
		return fmt.Errorf("mongotest: ReplicationDelay(%v): it must not be negative", c.replication)
	case c.journalLimit < 0:
		return fmt.Errorf("mongotest: JournalLimit(%d): it must not be negative", c.journalLimit)
	case c.transcript < 0:
		return fmt.Errorf("mongotest: KeepTranscript(%d): it must not be negative", c.transcript)
	}
	return nil
}

// setUpMembers works out what the members begin with.
func (c *config) setUpMembers() error {
	list := make([]memberConfig, c.members)
	c.initial = make([]memberSetup, c.members)
	for i := range c.initial {
		s := &c.initial[i]
		s.memberConfig = newMemberConfig(int64(i))
		for _, o := range c.setups[i] {
			if o == nil {
				return fmt.Errorf("mongotest: Member(%d): one of the options is nil", i)
			}
			o(s)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("mongotest: Member(%d): %s", i, err.Message)
		}
		if s.lag < 0 {
			return fmt.Errorf("mongotest: Member(%d): Lag must not be negative; found %v", i, s.lag)
		}
		list[i] = s.memberConfig
	}
	for i := range c.setups {
		if i < 0 || i >= c.members || c.standalone {
			return fmt.Errorf("mongotest: Member(%d): there is no such member of a set", i)
		}
	}
	if err := checkMembers(list); err != nil {
		return fmt.Errorf("mongotest: %s", err.Message)
	}
	return checkModes(c.modes)
}

// network returns the network in memory that the options describe, nil if there is none.
func (c *config) network() *memnet.Network {
	if !c.inMemory {
		return nil
	}
	return memnet.New(memnet.Config{MinLatency: c.latencyMin, MaxLatency: c.latencyMax, Seed: uint64(c.seed)})
}

// Members sets how many members the set has, spares included; one if it is not given, 50 at most, of which seven vote. What
// they are is said by [Member].
func Members(n int) Option { return func(c *config) { c.members = n } }

// InMemory makes the set open no socket. Only its [Dialer] reaches it.
func InMemory() Option { return func(c *config) { c.inMemory = true } }

// Listen sets the TCP addresses ("host:port") at which the servers listen and by which their hello names them; ports of
// 127.0.0.1 that are free, if it is not given.
func Listen(addresses ...string) Option { return func(c *config) { c.addresses = addresses } }

// Accept makes the members accept connections from these listeners, one for each, which Close closes. The addresses of
// Listen, which must be given, then only say how the members are named.
func Accept(listeners ...net.Listener) Option { return func(c *config) { c.listeners = listeners } }

// Standalone makes one server that is no replica set: its hello names none and it refuses transaction numbers.
func Standalone() Option { return func(c *config) { c.standalone = true } }

// SetName sets the replica set's name; "rs0" if it is not given.
func SetName(name string) Option { return func(c *config) { c.setName = name } }

// ElectionTimeout sets after how long without a majority a primary steps down, and after how long without a primary another
// member stands for election, up to 15 % later as the Seed has it; 10 s, as in a real set, if it is not given.
func ElectionTimeout(d time.Duration) Option { return func(c *config) { c.electionTimeout = d } }

// WriteConcernMode names a write concern, as the configuration's settings.getLastErrorModes: a write that asks for it is
// acknowledged when, for each of the tags, members with that many different values have it.
func WriteConcernMode(name string, tags map[string]int) Option {
	return func(c *config) {
		if c.modes == nil {
			c.modes = make(map[string]map[string]int)
		}
		c.modes[name] = maps.Clone(tags)
	}
}

// ReplicationDelay sets how long after a write the secondaries fetch it; at once if it is not given. [Lag] and
// [ReplicaSet.SetLag] add to it for one member.
func ReplicationDelay(d time.Duration) Option { return func(c *config) { c.replication = d } }

// Latency sets how long bytes travel on the in-memory network, each way: a random time from least to most for each
// write, in order. It needs InMemory.
func Latency(least, most time.Duration) Option {
	return func(c *config) { c.latencyMin, c.latencyMax = least, most }
}

// Compressors sets which compressors the servers have: snappy, zstd and zlib if it is not given, none with no names.
func Compressors(names ...string) Option { return func(c *config) { c.compressors = names } }

// Seed sets what random numbers (latencies, the offsets of elections) are made from; 1 if it is not given.
func Seed(seed int64) Option { return func(c *config) { c.seed = seed } }

// JournalLimit sets how many entries the journal keeps, the newest ones; 100,000 if it is not given, none with 0.
func JournalLimit(n int) Option { return func(c *config) { c.journalLimit = n } }

// JournalKey sets what the Key of a journal entry is made from; the command's comment, if that is a string, by default.
// It is called with no lock held and must not keep the statement.
func JournalKey(key func(command string, statement bson.Raw) string) Option {
	return func(c *config) { c.journalKey = key }
}

func init() {
	mutant.RegisterServer(func(m mutant.Server) Option { return func(c *config) { c.mutant = m } })
}
