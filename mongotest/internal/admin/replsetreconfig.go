package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetReconfig/

func cmdReplSetReconfig(x *call.Call) error {
	if err := OfSet(x); err != nil {
		return err
	}
	force := false
	for i := range x.Command.Args {
		if string(x.Command.Args[i].Key) != "force" {
			return fields.Unknown(x.Command.Name, string(x.Command.Args[i].Key))
		}
		force = x.Command.Args[i].True()
	}
	if !x.Command.First.IsDocument() {
		return fields.WrongType(x.Command.Name, x.Command.Name, x.Command.First.Type, "object")
	}
	if err := query.CheckDocument(x.Command.First.Data); err != nil {
		return err
	}
	return call.WithLock(x, func(x call.Locked) error {
		if err := configured(x, "Node not yet initialized; use the replSetInitiate command"); err != nil {
			return err
		}
		if x.Client.Member.Role != replica.Primary && !force {
			return mongoerr.Errorf(mongoerr.NotWritablePrimary, "New config cannot be run on a non-primary node: replSetReconfig should only be run on a "+
				"writable PRIMARY. Current state %s;", x.Client.Member.StateLocked())
		}
		r := newReconfiguration(x, force)
		if err := r.read(slices.Clone(x.Command.First.Data)); err != nil {
			return err
		}
		if err := r.check(); err != nil {
			return err
		}
		r.rs.Set.ReconfigureLocked(r.version, r.timeout, r.modes, r.members)
		return nil
	})
}

// reconfiguration is a configuration that is to replace the set's.
type reconfiguration struct {
	rs      *call.Cluster
	x       call.Locked
	self    *call.Member // where the command is run
	force   bool
	version int64
	timeout time.Duration
	modes   setconfig.Modes
	members []setconfig.Member
}

// newReconfiguration returns one with no members and the settings' defaults.
func newReconfiguration(x call.Locked, force bool) *reconfiguration {
	self := x.Client.Member
	r := &reconfiguration{rs: self.Cluster, x: x, self: self, force: force, timeout: 10 * time.Second}
	for _, m := range r.rs.Members {
		r.members = append(r.members, setconfig.Member{ID: m.Config.ID, Removed: true})
	}
	return r
}

func (r *reconfiguration) read(doc []byte) error {
	it := wire.Elements(doc)
	for it.Next() {
		if err := r.field(&it.Element); err != nil {
			return err
		}
	}
	if err := r.modes.Check(setconfig.Named(r.members)); it.Err == nil && err != nil {
		return err
	}
	return it.Err
}

func (r *reconfiguration) field(e *wire.Element) error {
	v := query.Of(*e)
	switch name := string(e.Key); name {
	case "_id":
		if string(v.Text()) != r.rs.SetName {
			return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
				"New and old configurations differ in replica set name; old was %s, and new is %s",
				r.rs.SetName, v.Text())
		}
	case "version":
		r.version, _ = v.Integer()
	case "term", "protocolVersion", "writeConcernMajorityJournalDefault":
	case "members":
		if !v.IsArray() {
			return fields.WrongType("ReplSetConfig", "members", v.Type, "array")
		}
		for _, m := range query.Elements(v.Data) {
			if err := r.member(m.Data); err != nil {
				return err
			}
		}
	case "settings":
		return r.settings(v.Data)
	default:
		return fields.Unknown("ReplSetConfig", name)
	}
	return nil
}

// member reads one of the members. It must be one of the set's servers: there are no others.
func (r *reconfiguration) member(doc []byte) error {
	host := query.Lookup(doc, "host")
	m := r.x.MemberNamed(string(host.Text()))
	if m == nil {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the member %s is none of the set's servers, which is not supported", host)
	}
	c := setconfig.New(-1)
	it := wire.Elements(doc)
	for it.Next() {
		if err := c.Read(&it.Element); err != nil {
			return err
		}
	}
	if it.Err != nil {
		return it.Err
	}
	if err := c.Check(); err != nil {
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "%s", err.Message)
	}
	if err := r.unique(m, &c); err != nil {
		return err
	}
	r.members[m.Index] = c
	return nil
}

// unique refuses a member without an _id, and what the configuration has twice.
func (r *reconfiguration) unique(m *call.Member, c *setconfig.Member) error {
	switch {
	case c.ID < 0 || c.ID > 255:
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "BSON field 'MemberConfig._id' must be between 0 and 255; found %d", c.ID)
	case !r.members[m.Index].Removed:
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible, "Found two member configurations with same host field, %s", m.Addr)
	}
	for i := range r.members {
		if !r.members[i].Removed && r.members[i].ID == c.ID {
			return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible, "Found two member configurations with same _id field, %d", c.ID)
		}
	}
	return nil
}

func (r *reconfiguration) settings(doc []byte) error {
	it := wire.Elements(doc)
	for it.Next() {
		if err := r.setting(&it.Element); err != nil {
			return err
		}
	}
	return it.Err
}

func (r *reconfiguration) setting(e *wire.Element) error {
	v := query.Of(*e)
	n, _ := v.Integer()
	name := string(e.Key)
	for _, s := range fixedSettings {
		if s.name == name && (v.IsNumber() && n != int64(s.value) || !v.IsNumber() && v.True() != (s.value == 1)) {
			return fields.Unsupported("replSetReconfig", "settings."+name)
		} else if s.name == name {
			return nil
		}
	}
	switch name {
	case "electionTimeoutMillis":
		if n < 1 {
			return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "BSON field 'electionTimeoutMillis' value must be >= 1, actual value '%d'", n)
		}
		r.timeout = time.Duration(n) * time.Millisecond
	case "getLastErrorModes":
		r.modes = make(setconfig.Modes)
		if err := r.modes.Read(v); err != nil {
			return err
		}
	case "getLastErrorDefaults":
		w, timeout := query.Lookup(v.Data, "w"), query.Lookup(v.Data, "wtimeout")
		members, _ := w.Integer()
		if limit, _ := timeout.Integer(); members != 1 || limit != 0 {
			return mongoerr.Errorf(5624102, "Failed to reconfig: Replica set config contains customized getLastErrorDefaults, which has been "+
				"deprecated and is now ignored. Use setDefaultRWConcern instead to set a cluster-wide default writeConcern.")
		}
	case "replicaSetId":
	default:
		return fields.Unknown("ReplSetConfigSettings", name)
	}
	return nil
}

// check returns why the configuration cannot replace the one that the set has.
func (r *reconfiguration) check() error {
	rs := r.rs
	if r.force {
		r.version = max(r.version, rs.Set.ConfigVersion+1)
	} else if r.version <= rs.Set.ConfigVersion {
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
			"New replica set configuration version and term must be greater than old, but %s is not "+
				"greater than %s for replica set %s", r.named(r.version), r.named(rs.Set.ConfigVersion), rs.SetName)
	}
	if err := setconfig.CheckAll(r.members); err != nil {
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible, "%s", err.Message)
	}
	if err := r.checkChanges(); err != nil {
		return err
	}
	if err := r.x.CheckDefault(r.modes); err != nil {
		return err
	}
	mine := &r.members[r.self.Index]
	switch {
	case mine.Removed:
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
			"No host described in new configuration with %s for replica set %s maps to this node",
			r.named(r.version), rs.SetName)
	case !r.force && !mine.Electable():
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
			"This node, %s, with _id MemberId(%d) is not electable under the new configuration with "+
				"%s for replica set %s", r.self.Addr, mine.ID, r.named(r.version), rs.SetName)
	case !r.force:
		return r.checkQuorum()
	}
	return nil
}

// named is how the real server writes a configuration's version and term.
func (r *reconfiguration) named(version int64) string {
	return fmt.Sprintf("{version: %d, term: %d}", version, r.self.Term)
}

// checkChanges compares each member with what it was.
func (r *reconfiguration) checkChanges() error {
	changed := 0
	for i, m := range r.rs.Members {
		was, is := &m.Config, &r.members[i]
		if was.Voter() != is.Voter() {
			changed++
		}
		switch {
		case was.Removed || is.Removed:
		case was.ID != is.ID:
			return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
				"New and old configurations both have members with host of %s but in the new "+
					"configuration the _id field is MemberId(%d) and in the old configuration it is MemberId(%d) for replica set %s", m.Addr,
				is.ID, was.ID, r.rs.SetName)
		case was.Arbiter != is.Arbiter:
			return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
				"New and old configurations differ in the setting of the arbiterOnly field for member "+
					"%s; to make this change, remove then re-add the member", m.Addr)
		}
		if is.Arbiter && !is.Removed && m.Data.Log.Last() > 0 {
			return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: making %s, which has data, an arbiter is not supported", m.Addr)
		}
	}
	if changed > 1 && !r.force {
		return mongoerr.Errorf(mongoerr.NewReplicaSetConfigurationIncompatible,
			"Non force replica set reconfig can only add or remove at most 1 voting member.")
	}
	return nil
}

// checkQuorum refuses what a majority of the new voters does not hear of.
func (r *reconfiguration) checkQuorum() error {
	voters := 0
	var there, missing []string
	for i, m := range r.rs.Members {
		if !r.members[i].Voter() {
			continue
		}
		voters++
		if r.self.Linked(m.Member) && m.Linked(r.self.Member) {
			there = append(there, m.Addr)
		} else {
			missing = append(missing, m.Addr)
		}
	}
	if len(there) > voters/2 {
		return nil
	}
	return mongoerr.Errorf(mongoerr.NodeNotFound,
		"Quorum check failed because not enough voting nodes responded; required %d but only the following %d "+
			"voting nodes responded: %s; the following nodes did not respond affirmatively: %s", voters/2+1, len(there),
		strings.Join(there, ", "), strings.Join(missing, ", "))
}
