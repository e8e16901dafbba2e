package call

import (
	"math"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/core/read-preference/

// leastStaleness is the smallest maxStalenessSeconds other than 0, which is as good as none.
const leastStaleness = 90

// preference is a $readPreference: which members may answer.
type preference struct {
	mode      string
	tags      []query.Value // the tag sets
	staleness int64         // seconds
	hedged    bool
}

// ReadPreference notes which members may answer the command.
func (c *Command) ReadPreference(e *wire.Element, v version.Version) error {
	if c.Spec == nil || c.Spec.Greeting {
		return nil // there is no such command, or it takes whatever it does not know
	}
	doc, err := c.genericDocument(e)
	if doc == nil {
		return err
	}
	p, err := parsePreference(doc, v)
	if err != nil {
		return err
	}
	c.secondaryOk, c.readMode, c.readTags = p.mode != "primary", p.mode, p.tags
	if p.staleness < math.MaxInt32 {
		c.staleness = time.Duration(p.staleness) * time.Second
	}
	return nil
}

func parsePreference(doc []byte, v version.Version) (*preference, error) {
	p := &preference{}
	if err := fields.ReadPreference.Each(doc, func(e *wire.Element) error { return p.field(e, v) }); err != nil {
		return nil, err
	}
	return p, p.check()
}

func (p *preference) field(e *wire.Element, v version.Version) error {
	switch string(e.Key) {
	case "mode":
		return p.readMode(string(e.Text()))
	case "tags":
		p.tags = query.Elements(e.Value)
	case "maxStalenessSeconds":
		return p.readStaleness(e)
	case "hedge":
		if !v.HasHedges() {
			return nil
		}
		p.hedged = true
		return fields.Hedge.Each(e.Value, func(e *wire.Element) error {
			p.hedged = e.True()
			return nil
		})
	}
	return nil
}

func (p *preference) readMode(mode string) error {
	switch p.mode = mode; mode {
	case "primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest":
		return nil
	}
	return fields.NotEnumerated("readPreference.mode", mode)
}

func (p *preference) readStaleness(e *wire.Element) error {
	switch p.staleness, _ = e.Int64(); {
	case p.staleness < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "maxStalenessSeconds must be a non-negative integer")
	case p.staleness > 0 && p.staleness < leastStaleness:
		return mongoerr.Errorf(mongoerr.MaxStalenessOutOfRange, "maxStalenessSeconds value cannot be less than %d", leastStaleness)
	}
	return nil
}

// check refuses what may not be combined with the primary.
func (p *preference) check() error {
	anyTags := len(p.tags) == 0 || len(p.tags) == 1 && p.tags[0].IsDocument() && len(p.tags[0].Data) == len(query.EmptyDocument)
	switch {
	case p.mode != "primary":
	case p.hedged:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "cannot enable hedging for $readPreference mode \"primaryOnly\"")
	case !anyTags:
		return mongoerr.Errorf(mongoerr.BadValue, "Only empty tags are allowed with primary read preference")
	case p.staleness > 0:
		return mongoerr.Errorf(mongoerr.BadValue, "maxStalenessSeconds can not be set for the primary mode")
	}
	return nil
}
