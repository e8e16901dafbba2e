package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/command"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// Tester is what the package needs of a test framework; a *testing.T has it.
type Tester interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// RunStandalone runs one server that is no replica set: its hello names none, and it refuses transaction numbers.
func RunStandalone(opts ...Option) (*Deployment, error) {
	return run(topology{members: 1, standalone: true}, opts)
}

// RunReplicaSet runs a replica set of 1 to 50 members, spares included, of which seven may vote; [Member] says more about
// each. The member with the highest priority, the first of them, is the elected primary when RunReplicaSet returns, unless
// the option [Uninitiated] is given.
func RunReplicaSet(members int, opts ...Option) (*Deployment, error) {
	return run(topology{members: members}, opts)
}

// RunSharded runs a sharded cluster: a replica set as the only shard, and at least one mongos in front of it. The connection
// string names the mongos; the members can still be reached by their own addresses.
func RunSharded(members, mongos int, opts ...Option) (*Deployment, error) {
	return run(topology{members: members, mongos: mongos, sharded: true}, opts)
}

// RunStandaloneT is [RunStandalone] for a test. As with all functions whose names end in T, what runs is closed when the
// test ends, and an error ends the test at once. If the test failed, it logs the text of [Deployment.Dump]. Parallel tests
// do not disturb each other.
func RunStandaloneT(t Tester, opts ...Option) *Deployment {
	t.Helper()
	rs, err := RunStandalone(opts...)
	return closeAfter(t, rs, err)
}

// RunReplicaSetT is [RunReplicaSet] for a test, see [RunStandaloneT].
func RunReplicaSetT(t Tester, members int, opts ...Option) *Deployment {
	t.Helper()
	rs, err := RunReplicaSet(members, opts...)
	return closeAfter(t, rs, err)
}

// RunShardedT is [RunSharded] for a test, see [RunStandaloneT].
func RunShardedT(t Tester, members, mongos int, opts ...Option) *Deployment {
	t.Helper()
	rs, err := RunSharded(members, mongos, opts...)
	return closeAfter(t, rs, err)
}

// closeAfter arranges that a deployment is closed when the test ends.
func closeAfter(t Tester, rs *Deployment, err error) *Deployment {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			t.Logf("what happened at the servers:\n%s", rs.Dump())
		}
		if err := rs.Close(); err != nil {
			t.Logf("closing the deployment: %v", err)
		}
	})
	return rs
}

func run(servers topology, opts []Option) (*Deployment, error) {
	c, err := newConfig(servers, opts)
	if err != nil {
		return nil, err
	}
	rs := &Deployment{config: c, transcript: transcript{limit: c.transcript}, network: c.network()}
	rs.set = replica.NewSet(c.settings(rs))
	rs.cluster = &call.Cluster{
		Execute: rs.execute, Source: command.NewSource, Set: rs.set, SetName: c.setName, Sharded: c.sharded, RequireAuth: c.requireAuth, Journal: journal.New(c.journalLimit), JournalKey: c.journalKey,
	}
	for i := range c.members {
		s := newMember(rs, i)
		m := s.member
		m.Config, m.Lag = c.initial[i].Member, c.initial[i].lag
		m.Config.Removed = m.Config.Removed || c.uninitiated
		rs.addMemberLocked(s)
	}
	for i := range c.mongos {
		r := newMongos(rs, i)
		rs.mongos, rs.servers = append(rs.mongos, r), append(rs.servers, &r.server)
	}
	for i, before := range c.balancers {
		rs.balancers = append(rs.balancers, newBalancer(rs, i, before))
	}
	if err := rs.secure(); err != nil {
		return nil, err
	}
	rs.ocsp.serve(rs)
	if err := rs.listen(); err != nil {
		_ = rs.Close()
		return nil, err
	}
	for _, m := range rs.cluster.Members {
		rs.wg.Go(m.Replicate)
	}
	if !c.uninitiated {
		rs.begin()
	}
	return rs, nil
}

// settings are those of the set that the deployment has.
func (c *config) settings(rs *Deployment) replica.Settings {
	return replica.Settings{
		Version: c.version, ElectionTimeout: c.electionTimeout, Modes: c.modes, Standalone: c.standalone, Seed: c.seed, Replication: c.replication, OplogBytes: c.oplogBytes, StartParameters: c.startParameters,
		TransactionEndedLocked: func(t *replica.Transaction) { rs.cluster.MemberOf(t.Member).TransactionEndedLocked(t) },
	}
}

// addMemberLocked adds a member, to whose clients nobody listens yet.
func (rs *Deployment) addMemberLocked(s *server) {
	rs.cluster.Members, rs.servers = append(rs.cluster.Members, s.member), append(rs.servers, s)
	rs.set.AddLocked(s.member.Member)
}

// begin lets the members elect their first primary.
func (rs *Deployment) begin() {
	rs.set.Lock()
	defer rs.set.Unlock()
	p := rs.set.ForemostLocked()
	rs.set.BeginLocked(p, func() {
		if rs.config.sharded {
			rs.describeShardLocked(p)
		}
	})
}
