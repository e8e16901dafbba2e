package writeconcern

import (
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
)

// Pattern returns the tags that the concern asks for, by itself or by the name of a mode. It is false for a number of members, for
// the majority, and for a mode that is not one of the set's.
func (c *Concern) Pattern(modes setconfig.Modes) (setconfig.Pattern, bool) {
	if c.Tags != nil {
		return c.Tags, true
	}
	if c.Mode == Majority {
		return nil, false
	}
	p, known := modes[c.Mode]
	return p, known
}

// CheckName refuses a mode that is not one of the set's.
func (c *Concern) CheckName(modes setconfig.Modes) error {
	if _, known := modes[c.Mode]; c.Mode == "" || c.Mode == Majority || known {
		return nil
	}
	return c.unknown()
}

func (c *Concern) unknown() *mongoerr.Error {
	return mongoerr.Errorf(mongoerr.UnknownReplWriteConcern, "No write concern mode named '%s' found in replica set configuration", c.Mode)
}

// Unsatisfiable returns why members with data, which are all that a set has, can never satisfy the concern, nil if they can.
func (c *Concern) Unsatisfiable(modes setconfig.Modes, members iter.Seq[*setconfig.Member]) *mongoerr.Error {
	p, tagged := c.Pattern(modes)
	switch {
	case !tagged:
		return c.tooMany(members)
	case p.Check(members) != nil:
		return p.Check(members)
	case p.Met(members):
		return nil
	case c.Tags != nil:
		return mongoerr.Errorf(mongoerr.UnsatisfiableWriteConcern, "Not enough nodes match write concern mode \"%s\"", p)
	}
	return mongoerr.Errorf(mongoerr.UnsatisfiableWriteConcern, "Not enough nodes match write concern mode \"%q\"", c.Mode)
}

// tooMany is Unsatisfiable of a concern without tags.
func (c *Concern) tooMany(members iter.Seq[*setconfig.Member]) *mongoerr.Error {
	n := 0
	for range members {
		n++
	}
	switch {
	case c.Mode != "" && c.Mode != Majority:
		return c.unknown()
	case c.Members > n:
		return mongoerr.Errorf(mongoerr.UnsatisfiableWriteConcern, "Not enough data-bearing nodes")
	}
	return nil
}
