package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/setconfig"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetInitiate/

func cmdReplSetInitiate(x *exec) error {
	if err := errors.Join(x.adminOfSet(), x.noArgs()); err != nil {
		return err
	}
	rs := x.conn.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	c, err := x.initialConfigLocked()
	switch {
	case rs.initiation != uninitiated:
		e := mongoerr.Errorf(mongoerr.AlreadyInitialized, "already initialized")
		e.Extra = wire.AppendString(nil, "info", "try querying local.system.replset to see current configuration")
		return e
	case err != nil:
		return invalidConfig(err)
	}
	rs.initiation = initiating
	defer func() {
		if rs.initiation == initiating {
			rs.initiation = uninitiated
		}
	}()
	return rs.initiateLocked(x, c)
}

// invalidConfig is an error about a configuration as replSetInitiate tells of it.
func invalidConfig(err error) error {
	e := mongoerr.From(err)
	if e.Code == mongoerr.NotImplemented {
		return e
	}
	return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "%s", e.Message)
}

// initialConfigLocked reads and checks the command's configuration, or makes one of which this server is the only member.
func (x *exec) initialConfigLocked() (*initialConfig, error) {
	rs := x.conn.set
	c := &initialConfig{name: rs.config.setName, version: 1, timeout: rs.electionTimeout.Milliseconds()}
	if doc := x.command.first.Data; x.command.first.IsDocument() && len(doc) > len(query.EmptyDocument) {
		if err := query.CheckDocument(doc); err != nil {
			return nil, err
		}
		if err := c.read(slices.Clone(doc)); err != nil {
			return nil, err
		}
	} else {
		x.result.out = wire.AppendString(x.result.out, "info2", "no configuration specified. Using a default configuration for the set")
		x.result.out = wire.AppendString(x.result.out, "me", x.conn.member.addr)
		c.members = []initialMember{{host: x.conn.member.addr, Member: setconfig.New(0)}}
	}
	if c.name != rs.config.setName {
		return nil, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig,
			"Attempting to initiate a replica set with name %s, but command line reports %s; "+
				"rejecting", c.name, rs.config.setName)
	}
	return c, c.check()
}

// initialConfig is the configuration with which a set begins.
type initialConfig struct {
	name    string
	version int64
	timeout int64 // for elections, in milliseconds
	members []initialMember
}

type initialMember struct {
	host string
	setconfig.Member
}

func (c *initialConfig) read(doc []byte) error {
	c.name = ""
	it := wire.Elements(doc)
	for it.Next() {
		if err := c.field(&it.Element); err != nil {
			return err
		}
	}
	return it.Err
}

func (c *initialConfig) field(e *wire.Element) error {
	v := query.Of(*e)
	switch name := string(e.Key); name {
	case "_id":
		c.name = string(v.Text())
	case "version":
		c.version, _ = v.Integer()
	case "term", "protocolVersion", "writeConcernMajorityJournalDefault":
	case "configsvr":
		return fields.Unsupported("replSetInitiate", name)
	case "members":
		if !v.IsArray() {
			return fields.WrongType("ReplSetConfig", "members", v.Type, "array")
		}
		for _, m := range query.Elements(v.Data) {
			if err := c.addMember(m.Data); err != nil {
				return err
			}
		}
	case "settings":
		return c.readSettings(v.Data)
	default:
		return fields.Unknown("ReplSetConfig", name)
	}
	return nil
}

func (c *initialConfig) addMember(doc []byte) error {
	m := initialMember{Member: setconfig.New(0)}
	it := wire.Elements(doc)
	for it.Next() {
		if err := m.Read(&it.Element); err != nil {
			return err
		}
	}
	host := query.Lookup(doc, "host")
	if m.host = withPort(string(host.Text())); m.host == "" {
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "BSON field 'MemberConfig.host' is missing but a required field")
	}
	if it.Err != nil {
		return it.Err
	}
	if err := m.Check(); err != nil {
		return err
	}
	c.members = append(c.members, m)
	return nil
}

// withPort adds the default port to a host that comes without.
func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); host == "" || err == nil {
		return host
	}
	return net.JoinHostPort(host, "27017")
}

// readSettings takes the settings that have an effect here, and refuses those that would need one and have none.
func (c *initialConfig) readSettings(doc []byte) error {
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		switch name := string(it.Key); name {
		case "electionTimeoutMillis":
			n, ok := v.Integer()
			if !ok || n <= 0 {
				return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "settings.electionTimeoutMillis must be a positive number")
			}
			c.timeout = n
		case "getLastErrorModes":
			if len(v.Data) > len(query.EmptyDocument) {
				return fields.Unsupported("replSetInitiate", "settings."+name)
			}
		case "chainingAllowed", "heartbeatIntervalMillis", "heartbeatTimeoutSecs", "catchUpTimeoutMillis",
			"catchUpTakeoverDelayMillis", "getLastErrorDefaults", "replicaSetId":
		default:
			return fields.Unknown("ReplSetConfig.settings", name)
		}
	}
	return it.Err
}

// check refuses a configuration that no set can have.
func (c *initialConfig) check() error {
	local := 0
	var list []setconfig.Member
	for i, m := range c.members {
		list = append(list, m.Member)
		if isLocalhost(m.host) {
			local++
		}
		if err := m.unlike(i, c.members[:i]); err != nil {
			return err
		}
	}
	n := len(c.members)
	switch err := setconfig.CheckAll(list); {
	case n == 0 || n > setconfig.MaxMembers:
		return mongoerr.Errorf(mongoerr.BadValue,
			"Replica set configuration contains %d members, but must have at least 1 and no more than  %d", n, setconfig.MaxMembers)
	case local != 0 && local != n:
		return mongoerr.Errorf(mongoerr.BadValue,
			"Either all host names in a replica set configuration must be localhost references, or none must be; "+
				"found %d out of %d", local, n)
	case err != nil:
		return err
	case c.version != 1:
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
			"Configuration used to initiate a replica set must  have version 1, but found %d", c.version)
	}
	return nil
}

// unlike refuses a member that has the id or the host of one before it.
func (m *initialMember) unlike(at int, before []initialMember) error {
	for i, other := range before {
		var field, value string
		switch {
		case other.ID == m.ID:
			field, value = "_id", fmt.Sprintf("MemberId(%d)", m.ID)
		case other.host == m.host:
			field, value = "host", m.host
		default:
			continue
		}
		return mongoerr.Errorf(mongoerr.BadValue,
			"Found two member configurations with same %[1]s field, members.%[2]d.%[1]s == members.%[3]d.%[1]s == %[4]s",
			field, i, at, value)
	}
	return nil
}

func isLocalhost(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// initiateLocked makes the set. It gives up the mutex while other processes are asked.
func (rs *Deployment) initiateLocked(x *exec, c *initialConfig) error {
	self, err := rs.selfLocked(x.conn.member, c)
	if err != nil {
		return err
	}
	joining, err := rs.prepareLocked(x.conn.member, self, c)
	if err != nil {
		return err
	}
	err = rs.joinLocked(joining)
	if err == nil && (rs.closed || x.conn.epoch != x.conn.member.epoch) {
		err = errHangUp
	}
	if err != nil {
		closeListeners(joining)
		return err
	}
	x.conn.member.addr = c.members[self].host
	rs.electionTimeout = time.Duration(c.timeout) * time.Millisecond
	rs.admitLocked(joining)
	for _, m := range c.members {
		rs.serverAtLocked(m.host).member.config = m.Member
	}
	rs.beginLocked(x.conn.member)
	return nil
}

// selfLocked returns which of a configuration's members this server is.
func (rs *Deployment) selfLocked(m *member, c *initialConfig) (int, error) {
	isSelf := func(host string) bool { return host == m.addr }
	if rs.config.processes != nil {
		isSelf = rs.config.processes.IsSelf
	}
	const about = "new configuration with {version: 1, term: 0} for replica set"
	self := slices.IndexFunc(c.members, func(m initialMember) bool { return isSelf(m.host) })
	switch {
	case self < 0:
		return 0, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "No host described in %s %s maps to this node", about, c.name)
	case !c.members[self].Electable():
		return 0, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "This node, %s, with _id MemberId(%d) is not electable under the %s %s",
			c.members[self].host, c.members[self].ID, about, c.name)
	}
	for _, other := range c.members[self+1:] {
		if isSelf(other.host) {
			return 0, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig,
				"The hosts %s and %s all map to this node in %s %s", c.members[self].host, other.host,
				about, c.name)
		}
	}
	return self, nil
}

// prepareLocked returns members that stand for the servers of other processes, and refuses a configuration that names unknown
// servers or leaves out known ones.
func (rs *Deployment) prepareLocked(own *member, self int, c *initialConfig) ([]*member, error) {
	var joining []*member
	var unknown []string
	for i, m := range c.members {
		switch {
		case i == self || rs.serverAtLocked(m.host) != nil:
		case rs.config.processes == nil:
			unknown = append(unknown, m.host+" failed with Connection refused")
		default:
			member := newMember(rs, len(rs.members)+len(joining))
			member.config.Removed = true
			member.addr = m.host
			joining = append(joining, member)
		}
	}
	for _, m := range rs.members {
		if m != own && !slices.ContainsFunc(c.members, func(c initialMember) bool { return c.host == m.addr }) {
			return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a configuration without the member %s is not supported", m.addr)
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
func (rs *Deployment) joinLocked(joining []*member) error {
	rs.mu.Unlock()
	defer rs.mu.Lock()
	return rs.join(joining)
}

// join makes other processes hand their clients on to members that stand for them.
func (rs *Deployment) join(joining []*member) error {
	if len(joining) == 0 {
		return nil
	}
	list := make([]JoiningMember, len(joining))
	for i, m := range joining {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return noQuorum(err.Error())
		}
		m.listener = l
		list[i] = JoiningMember{Member: m.index, Address: m.addr, Served: l.Addr().String()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), quorumTimeout)
	defer cancel()
	if err := rs.config.processes.Join(ctx, list); err != nil {
		return noQuorum(err.Error())
	}
	return nil
}

func closeListeners(members []*member) {
	for _, m := range members {
		if m.listener != nil {
			_ = m.listener.Close()
		}
	}
}

func noQuorum(reasons ...string) error {
	return mongoerr.Errorf(mongoerr.NodeNotFound,
		"replSetInitiate quorum check failed because not all proposed set members responded affirmatively: %s",
		strings.Join(reasons, ", "))
}

// admitLocked makes members part of the set and begins to serve their clients.
func (rs *Deployment) admitLocked(joining []*member) {
	for _, m := range joining {
		rs.members, rs.servers = append(rs.members, m), append(rs.servers, &m.server)
	}
	rs.cut = nil
	for range rs.members {
		rs.cut = append(rs.cut, make([]bool, len(rs.members)))
	}
	for _, m := range joining {
		rs.wg.Go(m.replicate)
		rs.wg.Go(func() { rs.acceptAll(m.listener, func(nc net.Conn) bool { return rs.accept(&m.server, nc) }) })
	}
}
