// Package writeconcern has the write concern of a command: how many members must have a write before it is acknowledged.
package writeconcern

import (
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/write-concern/

// Majority is the mode that every set has.
const Majority = "majority"

// Concern is the write concern of a command. The zero value is the set's default.
type Concern struct {
	Members int               // if w is a number
	Mode    string            // if w is a text: Majority, or a name of the configuration
	Tags    setconfig.Pattern // if w is a document
	Given   bool              // w was given
	Present bool              // the command has a writeConcern, be it empty
	Custom  bool              // it is the one that setDefaultRWConcern has set
	Timeout time.Duration     // 0 is none
	unnamed bool              // w is null or an empty text
	journal string            // "j" or "fsync", if one of them is asked for
}

// Parse reads the concern from a document.
func (c *Concern) Parse(doc []byte, v version.Version) error {
	c.Present = true
	return fields.WriteConcern.Document(doc, func(e *wire.Element) error { return c.field(e, v) })
}

func (c *Concern) field(e *wire.Element, version version.Version) error {
	switch string(e.Key) {
	case "w":
		c.Given = true
		return c.whom(query.Of(*e), version)
	case "wtimeout":
		n, _ := query.Of(*e).Integer() // another type is as good as none
		if n > math.MaxInt32 {
			return mongoerr.Errorf(mongoerr.FailedToParse, "wtimeout must be a 32-bit integer")
		}
		c.Timeout = time.Duration(n) * time.Millisecond
	case "j", "fsync":
		if e.True() {
			c.journal = string(e.Key)
		}
	case "provenance":
		return CheckProvenance("WriteConcernOptions", e)
	}
	return nil
}

// whom reads the field w.
func (c *Concern) whom(v query.Value, version version.Version) error {
	n := v.Clamped()
	switch {
	case v.Type == bson.TypeString:
		c.Mode = string(v.Text())
		c.unnamed = c.Mode == ""
	case v.IsDocument() && version.AtLeast(5, 0):
		return c.readTags(v.Data)
	case v.Type == bson.TypeNull:
		c.unnamed = true
	case !v.IsNumber() && !version.AtLeast(5, 0):
		return mongoerr.Errorf(mongoerr.FailedToParse, "w has to be a number or a string")
	case !v.IsNumber():
		return mongoerr.Errorf(mongoerr.FailedToParse, "w has to be a number, string, or object; found: %s", query.TypeName(v.Type))
	case math.IsNaN(v.AsFloat64()):
		return mongoerr.Errorf(mongoerr.FailedToParse, "w cannot be NaN")
	case n < 0 || n > setconfig.MaxMembers:
		return mongoerr.Errorf(mongoerr.FailedToParse, "w has to be a non-negative number and not greater than %d; found: %d", setconfig.MaxMembers, n)
	default:
		c.Members = int(n)
	}
	return nil
}

// readTags reads how many values of which tags are needed. Of a tag that is named twice the first number counts.
func (c *Concern) readTags(doc []byte) error {
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		if !v.IsNumber() {
			return mongoerr.Errorf(mongoerr.FailedToParse, "tags must be a single level document with only number values; found: %s: %s", it.Key, v)
		}
		tag := string(it.Key)
		if !slices.ContainsFunc(c.Tags, func(other setconfig.TagCount) bool { return other.Tag == tag }) {
			c.Tags = append(c.Tags, setconfig.TagCount{Tag: tag, Values: v.Clamped32()})
		}
	}
	if it.Err == nil && c.Tags == nil {
		return mongoerr.Errorf(mongoerr.FailedToParse, "tagged write concern requires tags")
	}
	return it.Err
}

// ByNumber reports whether the concern names a number of members.
func (c *Concern) ByNumber() bool { return c.Given && c.Mode == "" && c.Tags == nil }

// CheckStandalone refuses what only a member of a replica set has.
func (c *Concern) CheckStandalone() error {
	switch {
	case c.Members > 1:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use 'w' > 1 when a host is not replicated")
	case c.unnamed || c.Mode != "" && c.Mode != Majority:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use non-majority 'w' mode \"%s\" when a host is not a member of a replica set", c.Mode)
	}
	return nil
}

var provenances = []string{"clientSupplied", "implicitDefault", "customDefault", "getLastErrorDefaults", "internalWriteDefault"}

// CheckProvenance refuses a field "provenance" of the document of a name that has none of its values.
func CheckProvenance(of string, e *wire.Element) error {
	if text := string(e.Text()); !slices.Contains(provenances, text) {
		return fields.NotEnumerated(of+".provenance", text)
	}
	return nil
}
