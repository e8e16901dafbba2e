package writeconcern

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Append writes the concern as the field that tells which one was in force.
func (c *Concern) Append(dst []byte, v version.Version) []byte {
	at, dst := wire.BeginEmbedded(dst, "writeConcern")
	dst = c.AppendW(dst)
	if c.journal != "" {
		dst = wire.AppendBool(dst, c.journal, true)
	}
	dst = wire.AppendInt32(dst, "wtimeout", int32(c.Timeout/time.Millisecond))
	if v.AtLeast(4, 4) {
		dst = wire.AppendString(dst, "provenance", c.provenance())
	}
	return wire.EndDocument(dst, at)
}

// AppendW writes the field w, also of the default: where that is one member the real server leaves it out.
func (c *Concern) AppendW(dst []byte) []byte {
	switch {
	case c.Tags != nil:
		return c.Tags.Append(dst, "w")
	case c.Mode != "":
		return wire.AppendString(dst, "w", c.Mode)
	case c.Given:
		return wire.AppendInt32(dst, "w", int32(c.Members))
	}
	return wire.AppendString(dst, "w", Majority)
}

// provenance is where the write concern is from.
func (c *Concern) provenance() string {
	switch {
	case c.Custom:
		return "customDefault"
	case c.Present:
		return "clientSupplied"
	}
	return "implicitDefault"
}

// AsDefault reads a write concern and returns it as setDefaultRWConcern keeps it, nil if it is to be none.
func (c *Concern) AsDefault(doc []byte, v version.Version) ([]byte, error) {
	if len(doc) <= len(query.EmptyDocument) {
		return nil, nil
	}
	if err := c.Parse(doc, v); err != nil {
		return nil, err
	}
	provenance := query.Lookup(doc, "provenance")
	switch {
	case c.ByNumber() && c.Members < 1:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Unacknowledged write concern is not suitable for the default write concern")
	case !provenance.Missing():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'provenance' must be unset in default write concern")
	case !c.Given:
		c.Given, c.Members = true, 1
	}
	at, dst := wire.BeginDocument(nil)
	dst = c.AppendW(dst)
	if j := query.Lookup(doc, "j"); !j.Missing() {
		dst = wire.AppendBool(dst, "j", j.True())
	}
	return wire.EndDocument(wire.AppendInt32(dst, "wtimeout", int32(c.Timeout.Milliseconds())), at), nil
}
