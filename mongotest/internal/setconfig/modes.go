package setconfig

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/replica-configuration/#mongodb-rsconf-rsconf.settings.getLastErrorModes

const modesField = "getLastErrorModes"

// Modes are the write concerns that a configuration gives a name, in its settings.getLastErrorModes.
type Modes map[string]Pattern

// Pattern says how many different values of which tags the members that have a write must have.
type Pattern []TagCount

// TagCount is a tag, and how many different values of it are needed.
type TagCount struct {
	Tag    string
	Values int
}

// NewPattern returns a pattern with its tags in the order of their names.
func NewPattern(tags map[string]int) Pattern {
	var p Pattern
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		p = append(p, TagCount{name, tags[name]})
	}
	return p
}

// Read reads the field of the settings. Whether the members have the tags is checked later, see Check.
func (m Modes) Read(v query.Value) *mongoerr.Error {
	if v.Type != bson.TypeEmbeddedDocument {
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "Expected %s to be an Object, it actually had type %s", modesField, query.TypeName(v.Type))
	}
	it := wire.Elements(v.Data)
	for it.Next() {
		name := string(it.Key)
		if _, twice := m[name]; twice {
			return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "%s contains multiple fields named %s", modesField, name)
		}
		p, err := readMode(modesField+"."+name, query.Of(it.Element))
		if err != nil {
			return err
		}
		m[name] = p
	}
	return nil
}

func readMode(field string, v query.Value) (Pattern, *mongoerr.Error) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "Expected %s to be an Object, not %s", field, query.TypeName(v.Type))
	}
	p := Pattern{}
	it := wire.Elements(v.Data)
	for it.Next() {
		v := query.Of(it.Element)
		n := v.Clamped32()
		switch {
		case !v.IsNumber():
			return nil, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "Expected %s.%s to be a number, not %s", field, it.Key, query.TypeName(v.Type))
		case n < 1:
			return nil, mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "Value of %s.%s must be positive, but found %d", field, it.Key, n)
		}
		p = append(p, TagCount{string(it.Key), n})
	}
	return p, nil
}

// Check refuses modes with a tag that none of the members has.
func (m Modes) Check(members iter.Seq[*Member]) *mongoerr.Error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := m[name].Check(members); err != nil {
			return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "%s", err.Message)
		}
	}
	return nil
}

// Append writes the modes as a field of the settings.
func (m Modes) Append(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, modesField)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		dst = m[name].Append(dst, name)
	}
	return wire.EndDocument(dst, at)
}

// Check refuses a tag that none of the members has.
func (p Pattern) Check(members iter.Seq[*Member]) *mongoerr.Error {
	for _, c := range p {
		known := false
		for m := range members {
			known = known || m.HasTag(c.Tag)
		}
		if !known {
			return mongoerr.Errorf(mongoerr.NoSuchKey, "No replica set tag key %s in config", c.Tag)
		}
	}
	return nil
}

// Met reports whether some members are as many and as different as the pattern asks. Members without tags never are.
func (p Pattern) Met(members iter.Seq[*Member]) bool {
	tagged := false
	for m := range members {
		tagged = tagged || m.Tags != nil
	}
	return tagged && !slices.ContainsFunc(p, func(c TagCount) bool { return c.differing(members) < c.Values })
}

// differing returns how many different values of the tag there are.
func (c TagCount) differing(members iter.Seq[*Member]) int {
	values := make(map[string]bool)
	for m := range members {
		if m.HasTag(c.Tag) {
			values[m.Tag(c.Tag)] = true
		}
	}
	return len(values)
}

// Append writes the pattern as a field.
func (p Pattern) Append(dst []byte, field string) []byte {
	at, dst := wire.BeginEmbedded(dst, field)
	for _, c := range p {
		dst = wire.AppendInt32(dst, c.Tag, int32(c.Values))
	}
	return wire.EndDocument(dst, at)
}

func (p Pattern) String() string {
	var parts []string
	for _, c := range p {
		parts = append(parts, fmt.Sprintf("%q: %d", c.Tag, c.Values))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
