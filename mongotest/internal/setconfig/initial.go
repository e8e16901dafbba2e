package setconfig

import (
	"fmt"
	"net"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Initial is the configuration with which a set begins.
type Initial struct {
	Name    string
	Version int64
	Timeout int64 // for elections, in milliseconds
	Members []HostedMember
	Modes   Modes
}

// HostedMember is a member with its address.
type HostedMember struct {
	Host string
	Member
}

// Read reads the configuration from a document.
func (c *Initial) Read(doc []byte) error {
	c.Name, c.Modes = "", nil
	it := wire.Elements(doc)
	for it.Next() {
		if err := c.field(&it.Element); err != nil {
			return err
		}
	}
	if err := c.Modes.Check(Named(c.list())); it.Err == nil && err != nil {
		return err
	}
	return it.Err
}

func (c *Initial) list() (list []Member) {
	for _, m := range c.Members {
		list = append(list, m.Member)
	}
	return list
}

func (c *Initial) field(e *wire.Element) error {
	v := query.Of(*e)
	switch name := string(e.Key); name {
	case "_id":
		c.Name = string(v.Text())
	case "version":
		c.Version, _ = v.Integer()
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

func (c *Initial) addMember(doc []byte) error {
	m := HostedMember{Member: New(0)}
	it := wire.Elements(doc)
	for it.Next() {
		if err := m.Read(&it.Element); err != nil {
			return err
		}
	}
	host := query.Lookup(doc, "host")
	if m.Host = withPort(string(host.Text())); m.Host == "" {
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "BSON field 'MemberConfig.host' is missing but a required field")
	}
	if it.Err != nil {
		return it.Err
	}
	if err := m.Check(); err != nil {
		return err
	}
	c.Members = append(c.Members, m)
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
func (c *Initial) readSettings(doc []byte) error {
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		switch name := string(it.Key); name {
		case "electionTimeoutMillis":
			n, ok := v.Integer()
			if !ok || n <= 0 {
				return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "settings.electionTimeoutMillis must be a positive number")
			}
			c.Timeout = n
		case "getLastErrorModes":
			c.Modes = make(Modes)
			if err := c.Modes.Read(v); err != nil {
				return err
			}
		case "chainingAllowed", "heartbeatIntervalMillis", "heartbeatTimeoutSecs", "catchUpTimeoutMillis",
			"catchUpTakeoverDelayMillis", "getLastErrorDefaults", "replicaSetId":
		default:
			return fields.Unknown("ReplSetConfig.settings", name)
		}
	}
	return it.Err
}

// Check refuses a configuration that no set can have.
func (c *Initial) Check() error {
	local := 0
	for i, m := range c.Members {
		if isLocalhost(m.Host) {
			local++
		}
		if err := m.unlike(i, c.Members[:i]); err != nil {
			return err
		}
	}
	n := len(c.Members)
	switch err := CheckAll(c.list()); {
	case n == 0 || n > MaxMembers:
		return mongoerr.Errorf(mongoerr.BadValue,
			"Replica set configuration contains %d members, but must have at least 1 and no more than  %d", n, MaxMembers)
	case local != 0 && local != n:
		return mongoerr.Errorf(mongoerr.BadValue,
			"Either all host names in a replica set configuration must be localhost references, or none must be; "+
				"found %d out of %d", local, n)
	case err != nil:
		return err
	case c.Version != 1:
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
			"Configuration used to initiate a replica set must  have version 1, but found %d", c.Version)
	}
	return nil
}

// unlike refuses a member that has the id or the host of one before it.
func (m *HostedMember) unlike(at int, before []HostedMember) error {
	for i, other := range before {
		var field, value string
		switch {
		case other.ID == m.ID:
			field, value = "_id", fmt.Sprintf("MemberId(%d)", m.ID)
		case other.Host == m.Host:
			field, value = "host", m.Host
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
