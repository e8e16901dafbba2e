package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/timeseries/timeseries-bucketing/

// bucket is measurements that the real server keeps together: they are about the same, and lie in one span of time.
type bucket struct {
	start   time.Time
	records []*Record
}

// place is by what the real server orders buckets: the seconds since 1970 at the start of their ids, which have 32 bits. So what
// lies before 1970 comes last, and what lies behind 2106 comes first.
func (b *bucket) place() uint32 { return uint32(b.start.Unix()) }

// fullBucket is how many measurements a bucket has at most.
const fullBucket = 1000

// roundings are to how many seconds the start of a bucket is rounded down, by the granularity.
var roundings = map[string]int64{"seconds": 60, "minutes": 3600, "hours": 86400}

// spans returns the span of a bucket, and to what its start is rounded down.
func (ts *Timeseries) spans() (span, rounding time.Duration) {
	rounded := roundings[ts.shownGranularity()]
	if ts.ownSpan() {
		rounded = ts.rounding
	}
	return time.Duration(ts.bucketSpan()) * time.Second, time.Duration(rounded) * time.Second
}

// buckets puts measurements, which come as they were inserted, into the buckets in which the real server would keep them, in
// its order. What one command inserts goes there by its times.
func (ts *Timeseries) buckets(inserted []*Record) []*bucket {
	f := &bucketing{ts: ts, about: make(map[string][]*bucket)}
	f.span, f.rounding = ts.spans()
	for len(inserted) > 0 {
		n := 1
		for n < len(inserted) && sameBatch(inserted[0].Key, inserted[n].Key) {
			n++
		}
		batch := slices.DeleteFunc(slices.Clone(inserted[:n]), func(r *Record) bool { return r.Doc == nil })
		slices.SortStableFunc(batch, func(a, b *Record) int { return ts.timeOf(a).Compare(ts.timeOf(b)) })
		for _, r := range batch {
			f.add(r)
		}
		inserted = inserted[n:]
	}
	slices.SortStableFunc(f.all, func(a, b *bucket) int { return cmp.Compare(a.place(), b.place()) })
	return f.all
}

func (ts *Timeseries) timeOf(r *Record) time.Time {
	v := query.Lookup(r.Doc, ts.timeField)
	return time.UnixMilli(v.AsInt64())
}

// bucketing is the buckets that are being filled.
type bucketing struct {
	ts             *Timeseries
	span, rounding time.Duration
	all            []*bucket
	about          map[string][]*bucket // by what their measurements are about
}

// add puts a measurement into the newest bucket that may have it, or into a new one.
func (f *bucketing) add(r *Record) {
	key := ""
	if f.ts.hasMeta {
		key = string(query.AppendKey(nil, query.Lookup(r.Doc, f.ts.metaField)))
	}
	t := f.ts.timeOf(r)
	for _, b := range slices.Backward(f.about[key]) {
		if !t.Before(b.start) && t.Before(b.start.Add(f.span)) && len(b.records) < fullBucket {
			b.records = append(b.records, r)
			return
		}
	}
	b := &bucket{start: f.startOf(t), records: []*Record{r}}
	f.all = append(f.all, b)
	f.about[key] = append(f.about[key], b)
}

// startOf rounds a time down, also one before 1970.
func (f *bucketing) startOf(t time.Time) time.Time {
	unit := f.rounding.Milliseconds()
	ms := t.UnixMilli()
	return time.UnixMilli(ms - (ms%unit+unit)%unit)
}

// recordsOf returns the measurements of buckets, one bucket behind the other.
func recordsOf(buckets []*bucket) []*Record {
	var list []*Record
	for _, b := range buckets {
		list = append(list, b.records...)
	}
	return list
}
