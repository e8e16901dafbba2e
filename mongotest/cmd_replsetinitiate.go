package mongotest

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/admin"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetInitiate/

func cmdReplSetInitiate(x *exec) error {
	if err := errors.Join(admin.OfSet(&x.Call), x.NoArgs()); err != nil {
		return err
	}
	return call.WithLock(&x.Call, func(l call.Locked) error { return x.conn.deployment.initiate(l) })
}

// initiate makes the set that the command asks for, once.
func (rs *Deployment) initiate(x call.Locked) error {
	c, err := rs.initialConfig(x)
	switch {
	case rs.set.Initiation != replica.Uninitiated:
		e := mongoerr.Errorf(mongoerr.AlreadyInitialized, "already initialized")
		e.Extra = wire.AppendString(nil, "info", "try querying local.system.replset to see current configuration")
		return e
	case err != nil:
		return invalidConfig(err)
	}
	rs.set.Initiation = replica.Initiating
	defer func() {
		if rs.set.Initiation == replica.Initiating {
			rs.set.Initiation = replica.Uninitiated
		}
	}()
	return rs.initiateAs(x, c)
}

// invalidConfig is an error about a configuration as replSetInitiate tells of it.
func invalidConfig(err error) error {
	e := mongoerr.From(err)
	if e.Code == mongoerr.NotImplemented {
		return e
	}
	return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "%s", e.Message)
}

// initialConfig reads and checks the command's configuration, or makes one of which this server is the only member.
func (rs *Deployment) initialConfig(x call.Locked) (*setconfig.Initial, error) {
	c := &setconfig.Initial{Name: rs.config.setName, Version: 1, Timeout: rs.set.ElectionTimeout.Milliseconds()}
	if doc := x.Command.First.Data; x.Command.First.IsDocument() && len(doc) > len(query.EmptyDocument) {
		if err := query.CheckDocument(doc); err != nil {
			return nil, err
		}
		if err := c.Read(slices.Clone(doc)); err != nil {
			return nil, err
		}
	} else {
		x.Result.Out = wire.AppendString(x.Result.Out, "info2", "no configuration specified. Using a default configuration for the set")
		x.Result.Out = wire.AppendString(x.Result.Out, "me", x.Client.Member.Addr)
		c.Members = []setconfig.HostedMember{{Host: x.Client.Member.Addr, Member: setconfig.New(0)}}
	}
	if c.Name != rs.config.setName {
		return nil, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig,
			"Attempting to initiate a replica set with name %s, but command line reports %s; "+
				"rejecting", c.Name, rs.config.setName)
	}
	return c, c.Check()
}

// initiateAs makes the set. It gives up the mutex while other processes are asked.
func (rs *Deployment) initiateAs(x call.Locked, c *setconfig.Initial) error {
	self, err := rs.selfIn(x, c)
	if err != nil {
		return err
	}
	joining, err := rs.prepare(x, self, c)
	if err != nil {
		return err
	}
	err = rs.joinLocked(joining)
	if err == nil && (rs.set.Closed || x.Client.Epoch != x.Client.Member.Epoch) {
		err = call.ErrHangUp
	}
	if err != nil {
		closeListeners(joining)
		return err
	}
	x.Client.Member.Addr = c.Members[self].Host
	rs.set.ElectionTimeout = time.Duration(c.Timeout) * time.Millisecond
	if c.Modes != nil {
		rs.set.Modes = c.Modes
	}
	rs.admitLocked(joining)
	for _, m := range c.Members {
		x.MemberNamed(m.Host).Config = m.Member
	}
	rs.set.BeginLocked(x.Client.Member.Member, func() {})
	return nil
}

// selfIn returns which of a configuration's members this server is.
func (rs *Deployment) selfIn(x call.Locked, c *setconfig.Initial) (int, error) {
	isSelf := func(host string) bool { return host == x.Client.Member.Addr }
	if rs.config.processes != nil {
		isSelf = rs.config.processes.IsSelf
	}
	const about = "new configuration with {version: 1, term: 0} for replica set"
	self := slices.IndexFunc(c.Members, func(m setconfig.HostedMember) bool { return isSelf(m.Host) })
	switch {
	case self < 0:
		return 0, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "No host described in %s %s maps to this node", about, c.Name)
	case !c.Members[self].Electable():
		return 0, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "This node, %s, with _id MemberId(%d) is not electable under the %s %s",
			c.Members[self].Host, c.Members[self].ID, about, c.Name)
	}
	for _, other := range c.Members[self+1:] {
		if isSelf(other.Host) {
			return 0, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig,
				"The hosts %s and %s all map to this node in %s %s", c.Members[self].Host, other.Host,
				about, c.Name)
		}
	}
	return self, nil
}

// prepare returns members that stand for the servers of other processes, and refuses a configuration that names unknown
// servers or leaves out known ones.
func (rs *Deployment) prepare(x call.Locked, self int, c *setconfig.Initial) ([]*server, error) {
	var joining []*server
	var unknown []string
	for i, m := range c.Members {
		switch {
		case i == self || x.MemberNamed(m.Host) != nil:
		case rs.config.processes == nil:
			unknown = append(unknown, m.Host+" failed with Connection refused")
		default:
			s := newMember(rs, len(rs.cluster.Members)+len(joining))
			s.member.Config.Removed = true
			s.process.Addr = m.Host
			joining = append(joining, s)
		}
	}
	for _, m := range rs.cluster.Members {
		if m != x.Client.Member && !slices.ContainsFunc(c.Members, func(c setconfig.HostedMember) bool { return c.Host == m.Addr }) {
			return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a configuration without the member %s is not supported", m.Addr)
		}
	}
	if unknown != nil {
		return nil, noQuorum(unknown...)
	}
	return joining, nil
}

// quorumTimeout is how long replSetInitiate waits for other processes: as long as a heartbeat may take.
const quorumTimeout = 10 * time.Second

// joinLocked is join without the mutex, which is taken again also where Processes.Join ends the goroutine.
func (rs *Deployment) joinLocked(joining []*server) error {
	rs.set.Unlock()
	defer rs.set.Lock()
	return rs.join(joining)
}

// join makes other processes hand their clients on to members that stand for them.
func (rs *Deployment) join(joining []*server) error {
	if len(joining) == 0 {
		return nil
	}
	list := make([]JoiningMember, len(joining))
	for i, s := range joining {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return noQuorum(err.Error())
		}
		s.listener = l
		list[i] = JoiningMember{Member: s.member.Index, Address: s.process.Addr, Served: l.Addr().String()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), quorumTimeout)
	defer cancel()
	if err := rs.config.processes.Join(ctx, list); err != nil {
		return noQuorum(err.Error())
	}
	return nil
}

func closeListeners(servers []*server) {
	for _, s := range servers {
		if s.listener != nil {
			_ = s.listener.Close()
		}
	}
}

func noQuorum(reasons ...string) error {
	return mongoerr.Errorf(mongoerr.NodeNotFound,
		"replSetInitiate quorum check failed because not all proposed set members responded affirmatively: %s",
		strings.Join(reasons, ", "))
}

// admitLocked makes members part of the set and begins to serve their clients.
func (rs *Deployment) admitLocked(joining []*server) {
	for _, s := range joining {
		rs.addMemberLocked(s)
		rs.wg.Go(s.member.Replicate)
		rs.wg.Go(func() { rs.acceptAll(s.listener, func(nc net.Conn) bool { return rs.accept(s, nc) }) })
	}
}
