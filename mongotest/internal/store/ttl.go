package store

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/index-ttl/

// expiry is a rule by which documents expire.
type expiry struct {
	path    string // of a date
	seconds int64  // from the date on
	partial *query.Filter
}

// Expires reports whether documents of the collection may expire.
func (d *Definition) Expires() bool { return len(d.expiries()) > 0 }

// Expire changes after how many seconds the documents of a clustered collection or a time series expire; never, if none are given.
func (d *Definition) Expire(seconds int64, given bool) error {
	o := &d.Options
	o.Expires, o.Expiring = seconds, given
	if err := o.expiryFlaw(time.Now()); err != nil {
		return err
	}
	d.Indexes = slices.Clone(d.Indexes)
	for i, ix := range d.Indexes {
		if ix.clusters {
			d.Indexes[i] = clusteredIndex(o)
		}
	}
	return nil
}

// expiries returns the rules of a collection. One index has one field; a capped collection has none.
func (d *Definition) expiries() []expiry {
	var list []expiry
	o := &d.Options
	switch {
	case o.Capped:
		return nil
	case o.Expiring && o.Timeseries != nil:
		list = append(list, expiry{path: o.Timeseries.timeField, seconds: o.Expires})
	case o.Expiring:
		list = append(list, expiry{path: "_id", seconds: o.Expires})
	}
	for _, ix := range d.Indexes {
		v := query.Lookup(ix.Raw, "expireAfterSeconds")
		if v.IsNumber() && !ix.clusters && len(ix.Paths) == 1 && ix.Ordered() {
			list = append(list, expiry{strings.Join(ix.Paths[0], "."), v.Clamped(), ix.partial})
		}
	}
	return list
}

// Expired returns the documents that have expired at a time, in milliseconds. Of several dates the first one counts.
func (v *View) Expired(now int64) ([]*Record, error) {
	var list []*Record
	seen := make(map[*Record]bool)
	for _, rule := range v.Def.expiries() {
		var f query.Filter
		if err := f.Parse(rule.filter(now)); err != nil {
			return nil, err
		}
		var m query.Matching
		var failed error
		v.Scan(func(r *Record) bool {
			ok, err := f.MatchWith(r.Doc, &m)
			if ok && rule.partial != nil {
				ok, err = rule.partial.MatchWith(r.Doc, &m)
			}
			if failed = err; ok && !seen[r] {
				seen[r] = true
				list = append(list, r)
			}
			return err == nil
		})
		if failed != nil {
			return nil, failed
		}
	}
	return list, nil
}

// filter returns the filter of what expires by the rule.
func (e *expiry) filter(now int64) []byte {
	date := binary.LittleEndian.AppendUint64(nil, uint64(now-e.seconds*1000))
	whole, dst := wire.BeginDocument(nil)
	at, dst := wire.BeginEmbedded(dst, e.path)
	return wire.EndDocument(wire.EndDocument(wire.AppendValue(dst, "$lte", bson.TypeDateTime, date), at), whole)
}
