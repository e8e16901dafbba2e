package mongotest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// Option sets something about a deployment.
type Option interface{ setDeployment(*config) }

// PipeOption sets something about a [BlackPipe].
type PipeOption interface{ setPipe(*pipeConfig) }

// CommonOption is an option of deployments and of black pipes alike.
type CommonOption interface {
	Option
	PipeOption
}

type deploymentOption func(*config)

func (o deploymentOption) setDeployment(c *config) { o(c) }

type commonOption func(*commonConfig)

func (o commonOption) setDeployment(c *config) { o(&c.commonConfig) }
func (o commonOption) setPipe(c *pipeConfig)   { o(&c.commonConfig) }

// topology says which servers a deployment has.
type topology struct {
	members    int
	mongos     int
	standalone bool
	sharded    bool
}

type config struct {
	topology
	commonConfig
	electionTimeout time.Duration
	replication     time.Duration
	journalLimit    int
	oplogBytes      int64
	journalKey      func(command string, statement bson.Raw) string
	compressors     []string
	balancers       [][]int // the mongos behind each load balancer; none means all
	users           []User
	awsIdentities   []AWSIdentity
	providers       []IdentityProvider
	requireAuth     bool
	startParameters map[string]string
	tls             bool
	ocsp            *OCSPOptions
	listeners       []net.Listener
	uninitiated     bool
	processes       *Processes
	setups          map[int][]MemberOption
	initial         []memberSetup // of all members
	modes           setconfig.Modes
}

var errNilOption = errors.New("mongotest: one of the options is nil")

func newConfig(servers topology, opts []Option) (config, error) {
	c := config{
		topology: servers, commonConfig: newCommonConfig(), electionTimeout: 10 * time.Second, journalLimit: 100_000, oplogBytes: defaultOplog,
		compressors: compressors,
	}
	for _, o := range opts {
		if o == nil {
			return c, errNilOption
		}
		o.setDeployment(&c)
	}
	for _, check := range []func() error{
		c.checkSize, c.checkCommon, c.checkParameters, c.setUpMembers, c.checkCompressors, c.checkServers, c.checkBalancers, c.checkListening, c.checkLimits,
		c.checkAWS, c.checkOIDC,
	} {
		if err := check(); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *config) checkSize() error {
	switch {
	case c.members < 1 || c.members > setconfig.MaxMembers:
		return fmt.Errorf("mongotest: a replica set has 1 to %d members; found %d", setconfig.MaxMembers, c.members)
	case c.sharded && c.mongos < 1:
		return fmt.Errorf("mongotest: a sharded cluster has at least 1 mongos; found %d", c.mongos)
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

// checkServers refuses options that the deployment's servers cannot have together.
func (c *config) checkServers() error {
	switch p := c.processes; {
	case c.uninitiated && (c.standalone || c.sharded):
		return errors.New("mongotest: Uninitiated is an option of replica sets only")
	case p != nil && (!c.uninitiated || c.members != 1 || c.addresses == nil):
		return errors.New("mongotest: WithProcesses needs a replica set of one member, Uninitiated and Listen")
	case p != nil && (p.IsSelf == nil || p.Join == nil):
		return errors.New("mongotest: WithProcesses: IsSelf or Join is nil")
	}
	return nil
}

func (c *config) checkListening() error {
	switch n := len(c.addresses); {
	case n > 0 && len(c.balancers) == 0 && n != c.members+c.mongos:
		return fmt.Errorf("mongotest: Listen: %d addresses for %d members and %d mongos", n, c.members, c.mongos)
	case n > 0 && n != c.members+c.mongos+len(c.balancers):
		return fmt.Errorf("mongotest: Listen: %d addresses for %d members, %d mongos and %d load balancers", n, c.members, c.mongos, len(c.balancers))
	case c.listeners != nil && len(c.listeners) != n:
		return fmt.Errorf("mongotest: Accept: %d listeners for the %d addresses of Listen", len(c.listeners), n)
	}
	if i := slices.Index(c.listeners, nil); i >= 0 {
		return fmt.Errorf("mongotest: Accept: listener %d is nil", i)
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
	case c.oplogBytes < 1<<20:
		return fmt.Errorf("mongotest: OplogSize(%d): it must be at least 1", c.oplogBytes>>20)
	}
	return nil
}

// setUpMembers makes the initial configuration of all members.
func (c *config) setUpMembers() error {
	list := make([]setconfig.Member, c.members)
	c.initial = make([]memberSetup, c.members)
	for i := range c.initial {
		s := &c.initial[i]
		s.Member = setconfig.New(int64(i))
		for _, o := range c.setups[i] {
			if o == nil {
				return fmt.Errorf("mongotest: Member(%d): one of the options is nil", i)
			}
			o(s)
		}
		if err := s.Check(); err != nil {
			return fmt.Errorf("mongotest: Member(%d): %s", i, err.Message)
		}
		switch {
		case s.lag < 0:
			return fmt.Errorf("mongotest: Member(%d): Lag must not be negative; found %v", i, s.lag)
		case s.latency < 0:
			return fmt.Errorf("mongotest: Member(%d): MemberLatency must not be negative; found %v", i, s.latency)
		case s.latency > 0 && !c.inMemory:
			return fmt.Errorf("mongotest: Member(%d): MemberLatency needs InMemory", i)
		}
		list[i] = s.Member
	}
	for i := range c.setups {
		if i < 0 || i >= c.members || c.standalone {
			return fmt.Errorf("mongotest: Member(%d): there is no such member of a set", i)
		}
	}
	if err := setconfig.CheckAll(list); err != nil {
		return fmt.Errorf("mongotest: %s", err.Message)
	}
	return checkModes(c.modes, setconfig.Named(list))
}

// Accept makes the servers accept connections from these listeners, one for each server; Close closes them. It needs the
// option Listen, whose addresses then only name the servers.
func Accept(listeners ...net.Listener) Option {
	return deploymentOption(func(c *config) { c.listeners = listeners })
}

// ElectionTimeout sets how long a primary without a majority waits before it steps down, and how long another member without
// a primary waits before it stands for election, to which a random time of up to 15 % is added, see [Seed]. Without it the
// timeout is 10 s, as in a real replica set.
func ElectionTimeout(d time.Duration) Option {
	return deploymentOption(func(c *config) { c.electionTimeout = d })
}

// WriteConcernMode names a write concern, as settings.getLastErrorModes of the configuration does. A write with it is
// acknowledged when, for each tag, the members that have the write have at least that many different values of the tag.
func WriteConcernMode(name string, tags map[string]int) Option {
	return deploymentOption(func(c *config) {
		if c.modes == nil {
			c.modes = make(setconfig.Modes)
		}
		c.modes[name] = setconfig.NewPattern(tags)
	})
}

// ReplicationDelay sets how long after a write the secondaries fetch it. Without it they fetch it at once. [Lag] and
// [Deployment.SetLag] add to it for one member.
func ReplicationDelay(d time.Duration) Option {
	return deploymentOption(func(c *config) { c.replication = d })
}

// Compressors sets which compressors the servers offer: snappy, zstd and zlib without it, none if it has no names.
func Compressors(names ...string) Option {
	return deploymentOption(func(c *config) { c.compressors = names })
}

// JournalLimit sets how many entries the journal keeps, the newest ones. Without it the limit is 100,000; 0 keeps none.
func JournalLimit(n int) Option { return deploymentOption(func(c *config) { c.journalLimit = n }) }

// defaultOplog is the size of an oplog in bytes if there is no option.
const defaultOplog = 256 << 20

// OplogSize sets how many MiB each member's oplog has, as mongod's --oplogSize does; without it 256. An oplog that is full forgets its
// oldest entries, but none that is not committed yet or that an open transaction needs. Who needs a forgotten entry gets mongod's error:
// a change stream ChangeStreamHistoryLost, a read of an old snapshot SnapshotTooOld; and a member that was away too long is in the state
// RECOVERING.
func OplogSize(mib int) Option {
	return deploymentOption(func(c *config) { c.oplogBytes = int64(mib) << 20 })
}

// JournalKey sets the function that makes the Key of a journal entry. Without it the key is the command's comment, if that is
// a string. The function is called with no lock held and must not keep the statement.
func JournalKey(key func(command string, statement bson.Raw) string) Option {
	return deploymentOption(func(c *config) { c.journalKey = key })
}
