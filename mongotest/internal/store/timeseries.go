package store

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/timeseries-collections/

// Timeseries is what create says of a time-series collection. Its documents are kept one by one, not in buckets.
type Timeseries struct {
	timeField, metaField string
	hasMeta              bool  // there is a metaField, whose name may be empty
	fixed                *bool // fixedBucketing, nil where the version does not have it
	granularity          string
	span, rounding       int64 // seconds; 0 if not given
}

// maxSpans are how many seconds a bucket spans, by the granularity.
var maxSpans = map[string]int64{"seconds": 3600, "minutes": 86400, "hours": 2592000}

// ParseTimeseries reads the option timeseries of create. Since 9.0 there is fixedBucketing in it.
func ParseTimeseries(v query.Value, fixes bool) (*Timeseries, error) {
	ts := &Timeseries{}
	if fixes {
		ts.fixed = new(bool)
		*ts.fixed = true
	}
	texts := map[string]*string{"timeField": &ts.timeField, "metaField": &ts.metaField, "granularity": &ts.granularity}
	numbers := map[string]*int64{"bucketMaxSpanSeconds": &ts.span, "bucketRoundingSeconds": &ts.rounding}
	err := fields.Timeseries.Document(v.Data, func(e *wire.Element) error {
		if to := texts[string(e.Key)]; to != nil {
			*to = string(e.Text())
			ts.hasMeta = ts.hasMeta || string(e.Key) == "metaField"
			return nil
		}
		if string(e.Key) == "fixedBucketing" {
			if !fixes {
				return fields.Unknown("create.timeseries", "fixedBucketing")
			}
			*ts.fixed = e.True()
			return nil
		}
		n, _ := e.Int64()
		*numbers[string(e.Key)] = n
		switch {
		case n < 1:
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field '%s' value must be >= 1, actual value '%d'", e.Key, n)
		case n > maxSpan:
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%d'", e.Key, maxSpan, n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ts, nil
}

// OutOptions returns the options of a time-series collection that $out makes.
func OutOptions(v query.Value, fixes bool) (Options, error) {
	ts, err := ParseTimeseries(v, fixes)
	return Options{Timeseries: ts}, err
}

// Same reports whether two time series have the same options.
func (ts *Timeseries) Same(other *Timeseries) bool {
	return bytes.Equal(ts.append(nil), other.append(nil))
}

// Text writes the options as errors have them.
func (ts *Timeseries) Text() string {
	at, dst := wire.BeginDocument(nil)
	text := query.DocumentText(wire.EndDocument(ts.append(dst), at))
	return strings.TrimSuffix(strings.TrimPrefix(text, "{ "), " }")
}

// maxSpan is how many seconds a bucket may span: a year.
const maxSpan = 365 * 24 * 60 * 60

// Check returns why the options of create do not go together, whether or not there is a collection.
func (ts *Timeseries) Check() error {
	switch {
	case ts.granularity != "" && maxSpans[ts.granularity] == 0:
		return mongoerr.Errorf(mongoerr.BadValue,
			"Enumeration value '%s' for field 'create.timeseries.granularity' is not a valid value.", ts.granularity)
	case ts.metaField == "_id":
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'metaField' cannot be \"_id\"")
	case ts.hasMeta && ts.metaField == ts.timeField:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'metaField' cannot be the same as 'timeField'")
	}
	return nil
}

// keyFlaw returns why the index of a time series cannot be made, nil if it can. A nil Timeseries has none.
func (ts *Timeseries) keyFlaw() error {
	if ts == nil || !ts.hasMeta || ts.timeField != "" {
		return nil
	}
	keys := "{ meta: 1, control.min.: 1, control.max.: 1 }"
	return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Failed to create timeseries collection :: caused by :: Error in specification { v: 2, "+
		"name: \"%s_1__1\", key: %s } :: caused by :: bad index key pattern %s: Index keys cannot contain an empty field.", ts.metaField, keys, keys)
}

// CheckSpans refuses seconds that do not go together, or not with the granularity. A nil Timeseries has none.
func (ts *Timeseries) CheckSpans() error {
	why := ""
	switch {
	case ts == nil:
	case ts.granularity != "" && ts.rounding != 0:
		why = "'bucketRoundingSeconds' cannot be set alongside the granularity parameter"
	case ts.granularity != "" && ts.span != 0 && ts.span != maxSpans[ts.granularity]:
		why = fmt.Sprintf("'bucketMaxSpanSeconds' cannot be set to a value other than the default of %d for the provided granularity",
			maxSpans[ts.granularity])
	case ts.granularity == "" && ts.span != ts.rounding:
		why = "'bucketRoundingSeconds' must be equal to 'bucketMaxSpanSeconds'"
	}
	if why == "" {
		return nil
	}
	return mongoerr.Errorf(mongoerr.InvalidOptions, "Failed to create timeseries collection :: caused by :: Time-series %s", why)
}

// CheckWith returns why the options of a collection do not go with its being a time series, nil if they do.
func (ts *Timeseries) CheckWith(ns string, o *Options) error {
	switch {
	case ts == nil:
	case o.ViewOn != "":
		return mongoerr.Errorf(mongoerr.InvalidOptions, "%s: 'timeseries' is not allowed with 'viewOn'", ns)
	case o.Capped:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "%s: 'timeseries' is not allowed with 'capped'", ns)
	case strings.Contains(ts.timeField, "."):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "%s: 'timeField' must be a top-level field and not contain a '.'", ns)
	case strings.Contains(ts.metaField, "."):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "%s: 'metaField' must be a top-level field and not contain a '.'", ns)
	}
	return nil
}

// About returns the name of the metaField, "" if there is none.
func (ts *Timeseries) About() string { return ts.metaField }

// IsAbout reports whether a path is that of the metaField, or below it.
func (ts *Timeseries) IsAbout(path string) bool {
	return ts.hasMeta && strings.HasPrefix(path+".", ts.metaField+".")
}

func (ts *Timeseries) append(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "timeseries")
	dst = wire.AppendString(dst, "timeField", ts.timeField)
	if ts.hasMeta {
		dst = wire.AppendString(dst, "metaField", ts.metaField)
	}
	if ts.ownSpan() {
		dst = wire.AppendInt32(dst, "bucketRoundingSeconds", int32(ts.rounding))
		dst = wire.AppendInt32(dst, "bucketMaxSpanSeconds", int32(ts.span))
	} else {
		dst = wire.AppendString(dst, "granularity", ts.shownGranularity())
		dst = wire.AppendInt32(dst, "bucketMaxSpanSeconds", int32(ts.bucketSpan()))
	}
	if ts.fixed != nil {
		dst = wire.AppendBool(dst, "fixedBucketing", *ts.fixed)
	}
	return wire.EndDocument(dst, at)
}

// ownSpan reports whether buckets span other seconds than those of a granularity.
func (ts *Timeseries) ownSpan() bool { return ts.span != 0 && ts.granularity == "" }

func (ts *Timeseries) shownGranularity() string { return cmp.Or(ts.granularity, "seconds") }

// bucketSpan is how many seconds a bucket spans.
func (ts *Timeseries) bucketSpan() int64 { return cmp.Or(ts.span, maxSpans[ts.shownGranularity()]) }

// indexes returns what listIndexes shows of a new time-series collection.
func (ts *Timeseries) indexes(c *collation.Collation) ([]*Index, error) {
	if !ts.hasMeta {
		return nil, nil
	}
	at, pattern := wire.BeginDocument(nil)
	pattern = wire.EndDocument(wire.AppendInt32(wire.AppendInt32(pattern, ts.metaField, 1), ts.timeField, 1), at)
	at, spec := wire.BeginDocument(nil)
	spec = wire.AppendDocument(wire.AppendInt32(spec, "v", 2), "key", pattern)
	spec = wire.AppendString(spec, "name", ts.metaField+"_1_"+ts.timeField+"_1")
	if c != nil {
		spec = wire.AppendDocument(spec, "collation", c.Shown())
	}
	spec = wire.EndDocument(spec, at)
	if ts.metaField == "" { // which no other index may have
		return []*Index{{Name: "_1_" + ts.timeField + "_1", Raw: spec, Pattern: pattern, Paths: [][]string{{""}, {ts.timeField}}, Collation: c}}, nil
	}
	ix, err := ParseIndex(spec, nil, false)
	return []*Index{ix}, err
}

// measurementKey begins the key of a measurement. Behind it stand the id of what was inserted by one command, and its own.
const measurementKey = "measurement "

// KeyOf is the key under which a measurement is kept: its _id need not be the only one of its kind. Batch is the same for all
// that one command inserts.
func (ts *Timeseries) KeyOf(doc []byte, batch bson.ObjectID) (string, error) {
	if query.Lookup(doc, ts.timeField).Type != bson.TypeDateTime {
		return "", mongoerr.Errorf(mongoerr.BadValue, "'%s' must be present and contain a valid BSON UTC datetime value", ts.timeField)
	}
	id := bson.NewObjectID()
	return measurementKey + string(batch[:]) + string(id[:]), nil
}

// sameBatch reports whether two measurements were inserted by one command, by their keys.
func sameBatch(a, b string) bool {
	n := len(measurementKey) + len(bson.ObjectID{})
	return len(a) >= n && len(b) >= n && a[:n] == b[:n]
}

// Measurement returns a document as it is kept: the time first, then what it is about with its fields in order, then the rest,
// with the _id only if it came with one.
func (ts *Timeseries) Measurement(doc []byte, ownID bool) []byte {
	return ts.arranged(doc, ownID, byName)
}

// Updated returns a document as it is kept after an update, which leaves the fields of the metaField in its own order.
func (ts *Timeseries) Updated(doc []byte) []byte {
	return ts.arranged(doc, true, func(v query.Value) query.Value { return v })
}

func (ts *Timeseries) arranged(doc []byte, ownID bool, about func(query.Value) query.Value) []byte {
	at, dst := wire.BeginDocument(nil)
	time := query.Lookup(doc, ts.timeField)
	dst = wire.AppendValue(dst, ts.timeField, time.Type, time.Data)
	if v := query.Lookup(doc, ts.metaField); ts.hasMeta && !v.Missing() {
		v = about(v)
		dst = wire.AppendValue(dst, ts.metaField, v.Type, v.Data)
	}
	it := wire.Elements(doc)
	for it.Next() {
		switch name := string(it.Key); {
		case name == ts.timeField || name == ts.metaField && ts.hasMeta || name == "_id" && !ownID:
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// byName brings the fields of documents into the order of their names, at any depth.
func byName(v query.Value) query.Value {
	if !v.IsDocument() && !v.IsArray() {
		return v
	}
	var fields []wire.Element
	it := wire.Elements(v.Data)
	for it.Next() {
		fields = append(fields, it.Element)
	}
	if v.IsDocument() {
		slices.SortStableFunc(fields, func(a, b wire.Element) int { return bytes.Compare(a.Key, b.Key) })
	}
	at, dst := wire.BeginDocument(nil)
	for _, f := range fields {
		inner := byName(query.Of(f))
		dst = wire.AppendValue(dst, string(f.Key), inner.Type, inner.Data)
	}
	return query.Value{Type: v.Type, Data: wire.EndDocument(dst, at)}
}
