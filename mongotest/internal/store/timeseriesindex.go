package store

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/timeseries/timeseries-secondary-index/

// CheckIndex refuses an index that no time-series collection may have. The real server keeps one over buckets: what the
// measurements have is there as the least and the greatest value of a bucket, and what they are about by itself.
func (ts *Timeseries) CheckIndex(ix *Index) error {
	switch {
	case ix.Unique:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Unique indexes are not supported on time-series collections")
	case ix.plugin == "text":
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Text indexes are not supported on time-series collections")
	case !query.Lookup(ix.Raw, "expireAfterSeconds").Missing() && !ts.aboutOnly(query.Lookup(ix.Raw, "partialFilterExpression")):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "TTL indexes on time-series collections require a partialFilterExpression on the metaField")
	}
	for it := wire.Elements(ix.Pattern); it.Next(); {
		if err := ts.checkKeyPart(ix, &it.Element); err != nil {
			return err
		}
	}
	return nil
}

// aboutOnly reports whether a filter has conditions, and only on what the measurements are about.
func (ts *Timeseries) aboutOnly(filter query.Value) bool {
	for it := wire.Elements(filter.Data); filter.IsDocument() && it.Next(); {
		if !ts.IsAbout(string(it.Key)) {
			return false
		}
	}
	return filter.IsDocument()
}

func (ts *Timeseries) checkKeyPart(ix *Index, e *wire.Element) error {
	path := string(e.Key)
	kind := string(query.Of(*e).Text())
	switch {
	case ts.IsAbout(path):
	case e.Type == bson.TypeString && path == ts.timeField:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "BadValue: Invalid index spec for time-series collection: %s. Indexes on the time field "+
			"must be ascending or descending (numbers only): %s: \"%s\"", query.DocumentText(ix.Pattern), path, kind)
	case e.Type == bson.TypeString && kind != "2dsphere":
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "BadValue: Invalid index spec for time-series collection: %s. Indexes on measurement "+
			"fields must be ascending or descending (numbers only), or '2dsphere': %s: \"%s\"", query.DocumentText(ix.Pattern), path, kind)
	case path == ts.timeField:
	case !query.Lookup(ix.Raw, "sparse").Missing():
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Sparse indexes are not supported on time-series measurements")
	case isWildcard(path):
		return mongoerr.Errorf(7246201, "Error in specification %s :: caused by :: Index Key can contain only one wildcard index field",
			query.DocumentText(ts.overBuckets(ix)))
	}
	return nil
}

// overBuckets returns the specification of an index as the real server writes it for its buckets, from which it names it in
// this error.
func (ts *Timeseries) overBuckets(ix *Index) []byte {
	at, dst := wire.BeginDocument(nil)
	original := wire.AppendString(wire.AppendDocument(nil, "key", ix.Pattern), "name", ix.Name)
	dst = wire.AppendString(dst, "name", ix.Name)
	key, dst := wire.BeginEmbedded(dst, "key")
	for it := wire.Elements(ix.Pattern); it.Next(); {
		path, part := string(it.Key), it.Element
		if ts.IsAbout(path) {
			part.Key = []byte("meta" + strings.TrimPrefix(path, ts.metaField))
			dst = wire.AppendElement(dst, part)
			continue
		}
		for _, side := range []string{"control.min.", "control.max."} {
			part.Key = []byte(side + path)
			dst = wire.AppendElement(dst, part)
		}
	}
	dst = wire.EndDocument(dst, key)
	spec, dst := wire.BeginEmbedded(dst, "originalSpec")
	dst = wire.EndDocument(append(dst, original...), spec)
	return wire.EndDocument(dst, at)
}
