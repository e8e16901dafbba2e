package setconfig

import (
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// The real server's limits of a replica set.
const (
	MaxMembers  = 50
	maxVoters   = 7
	maxPriority = 1000
)

// Member is what a replica set's configuration says of a member. Every member knows it at once.
type Member struct {
	ID       int64
	Priority float64
	Votes    int64
	Hidden   bool
	Arbiter  bool
	Tags     []byte        // nil for none
	Delay    time.Duration // secondaryDelaySecs
	Removed  bool          // the configuration does not name the member
}

// New is a member's configuration unless it says otherwise.
func New(id int64) Member { return Member{ID: id, Priority: 1, Votes: 1} }

// Voter reports whether the member votes.
func (c *Member) Voter() bool { return c.Votes > 0 && !c.Removed }

// BearsData reports whether the member has the set's data.
func (c *Member) BearsData() bool { return !c.Arbiter && !c.Removed }

// Electable reports whether the configuration lets the member be elected.
func (c *Member) Electable() bool { return c.Priority > 0 && c.BearsData() }

// Check completes the configuration as the real server does, or returns which of its rules it breaks.
func (c *Member) Check() *mongoerr.Error {
	if c.Arbiter && c.Priority == 1 {
		c.Priority = 0
	}
	switch {
	case !(c.Priority >= 0 && c.Priority <= maxPriority):
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be between 0 and %d; found %v", maxPriority, c.Priority)
	case c.Votes < 0 || c.Votes > 1:
		return mongoerr.Errorf(mongoerr.BadValue, "votes must be 0 or 1; found %d", c.Votes)
	case c.Delay < 0 || c.Delay%time.Second != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "secondaryDelaySecs must be a number of whole seconds that is not negative; found %v", c.Delay)
	case c.Arbiter && c.Votes == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Arbiter must vote (cannot have 0 votes)")
	case c.Arbiter && c.Tags != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "Cannot set tags on arbiters.")
	case c.Arbiter && c.Priority > 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Arbiter priority must be 0; found %v", c.Priority)
	case c.Priority == 0:
		return nil
	case c.Votes == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be 0 when non-voting (votes:0)")
	case c.Delay > 0:
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be 0 when secondaryDelaySecs is used")
	case c.Hidden:
		return mongoerr.Errorf(mongoerr.BadValue, "priority must be 0 when hidden=true")
	}
	return nil
}

// Named are those members of a list that the configuration names.
func Named(list []Member) iter.Seq[*Member] {
	return func(yield func(*Member) bool) {
		for i := range list {
			if !list[i].Removed && !yield(&list[i]) {
				return
			}
		}
	}
}

// CheckAll returns which rule the members of a configuration break together.
func CheckAll(list []Member) *mongoerr.Error {
	voters, electable := 0, 0
	for i := range list {
		if list[i].Voter() {
			voters++
		}
		if list[i].Electable() {
			electable++
		}
	}
	switch {
	case voters == 0 || voters > maxVoters:
		return mongoerr.Errorf(mongoerr.BadValue, "Replica set configuration contains %d voting members, but must be at least 1 and no more than %d",
			voters, maxVoters)
	case electable == 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Replica set configuration must contain at least one non-arbiter member with priority > 0")
	}
	return nil
}

// HasTag reports whether the member has a tag of a name, be its value empty.
func (c *Member) HasTag(name string) bool {
	v := query.Lookup(c.Tags, name)
	return c.Tags != nil && !v.Missing()
}

// Tag returns the value of one of the member's tags, empty if it has none of that name.
func (c *Member) Tag(name string) string {
	if c.Tags == nil {
		return ""
	}
	v := query.Lookup(c.Tags, name)
	return string(v.Text())
}

// AppendShown appends what a member says of its own configuration in a hello.
func (c *Member) AppendShown(dst []byte, v version.Version) []byte {
	if c.Arbiter {
		dst = wire.AppendBool(dst, "arbiterOnly", true)
	}
	if c.Priority == 0 && !c.Arbiter {
		dst = wire.AppendBool(dst, "passive", true)
	}
	if c.Hidden {
		dst = wire.AppendBool(dst, "hidden", true)
	}
	if c.Delay > 0 {
		dst = wire.AppendInt64(dst, v.DelayField(), int64(c.Delay.Seconds()))
	}
	if c.Tags != nil {
		dst = wire.AppendDocument(dst, "tags", c.Tags)
	}
	return dst
}

// Read reads a field of the configuration that a client gave.
func (c *Member) Read(e *wire.Element) error {
	v := query.Of(*e)
	n, number := v.Integer()
	switch name := string(e.Key); name {
	case "host":
	case "_id":
		if number {
			c.ID = n
		}
	case "priority":
		if c.Priority = v.AsFloat64(); !v.IsNumber() {
			return fields.WrongType("MemberConfig", name, v.Type, "double")
		}
	case "votes":
		if c.Votes = n; !number {
			return fields.WrongType("MemberConfig", name, v.Type, "int")
		}
	case "secondaryDelaySecs", "slaveDelay":
		if c.Delay = time.Duration(n) * time.Second; !number {
			return fields.WrongType("MemberConfig", name, v.Type, "long")
		}
	case "hidden":
		c.Hidden = v.True()
	case "arbiterOnly":
		c.Arbiter = v.True()
	case "tags":
		return c.readTags(e)
	case "buildIndexes":
		if !v.True() {
			return fields.Unsupported("replSetReconfig", "buildIndexes: false")
		}
	case "horizons":
		if v.Type != bson.TypeEmbeddedDocument || len(v.Data) > len(query.EmptyDocument) {
			return fields.Unsupported("replSetReconfig", name)
		}
	default:
		return fields.Unknown("MemberConfig", name)
	}
	return nil
}

func (c *Member) readTags(e *wire.Element) error {
	doc := e.Document()
	if doc == nil {
		return fields.WrongType("MemberConfig", "tags", e.Type, "object")
	}
	it := wire.Elements(doc)
	for it.Next() {
		if it.Type != bson.TypeString {
			return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "tags.%s field has non-string value of type %s", it.Key, query.TypeName(it.Type))
		}
		c.Tags = doc
	}
	return it.Err
}

// HasTags reports whether a member has all of some tags.
func (c *Member) HasTags(tags []byte) bool {
	it := wire.Elements(tags)
	for it.Next() {
		if c.Tag(string(it.Key)) != string(it.Text()) {
			return false
		}
	}
	return true
}
