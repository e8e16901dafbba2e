package explain

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// fastCount knows how many documents the collection has.
type fastCount struct {
	withoutInput
	counted, skipped int32
}

func (*fastCount) name() string                      { return "RECORD_STORE_FAST_COUNT" }
func (s *fastCount) step() (state, *store.Record)    { return s.end() }
func (s *fastCount) appendFigures(dst []byte) []byte { return appendCounted(dst, s.counted, s.skipped) }

func appendCounted(dst []byte, counted, skipped int32) []byte {
	return wire.AppendInt32(wire.AppendInt32(dst, "nCounted", counted), "nSkipped", skipped)
}

func newFastCount(q *Query) *fastCount {
	n := int64(len(q.Records))
	skipped := min(q.Skip, n)
	if n -= skipped; q.Limit > 0 {
		n = min(n, q.Limit)
	}
	return &fastCount{counted: int32(n), skipped: int32(skipped)}
}

// counting counts what it gets.
type counting struct {
	withInput
	skip, most       int64
	counted, skipped int64
}

func (*counting) name() string { return "COUNT" }

func (s *counting) eof() bool { return s.most > 0 && s.counted >= s.most || s.input.eof() }

func (s *counting) step() (state, *store.Record) {
	if s.most > 0 && s.counted >= s.most || s.input.eof() {
		return ended, nil
	}
	st, _ := work(s.input)
	switch {
	case st == ended:
		return ended, nil
	case st == needTime:
	case s.skipped < s.skip:
		s.skipped++
	default:
		s.counted++
	}
	return needTime, nil
}

func (s *counting) appendFigures(dst []byte) []byte {
	return appendCounted(dst, int32(s.counted), int32(s.skipped))
}

// countScan counts one run of keys.
type countScan struct {
	*indexScan
}

func (*countScan) name() string               { return "COUNT_SCAN" }
func (*countScan) filter() *test              { return nil }
func (s *countScan) examined() (int32, int32) { return s.keys + truth(s.ended), 0 }

func (s *countScan) appendPlan(dst []byte) []byte {
	dst = wire.AppendInt32(appendIndex(appendNamespace(dst, s.ns), s.index), "indexVersion", 2)
	at, dst := wire.BeginEmbedded(dst, "indexBounds")
	dst, inclusive := s.appendKey(dst, "startKey", false)
	dst = wire.AppendBool(dst, "startKeyInclusive", inclusive)
	dst, inclusive = s.appendKey(dst, "endKey", true)
	return wire.EndDocument(wire.AppendBool(dst, "endKeyInclusive", inclusive), at)
}

// appendKey writes the first or the last key of the run, and reports whether it belongs to it. Behind an end that does not belong,
// the other fields are at the end where they leave out all of its keys.
func (s *countScan) appendKey(dst []byte, name string, last bool) ([]byte, bool) {
	at, dst := wire.BeginEmbedded(dst, name)
	inclusive := true
	for i, list := range s.bounds {
		down := s.index.fields[i].sign < 0
		atEnd := last != down // the upper end of the interval
		v, open := list[0].from, list[0].fromOpen
		if atEnd != !inclusive {
			v, open = list[0].to, list[0].toOpen
		}
		inclusive = inclusive && !open
		dst = wire.AppendValue(dst, s.index.fields[i].path, v.Type, v.Data)
	}
	return wire.EndDocument(dst, at), inclusive
}

func (s *countScan) appendFigures(dst []byte) []byte { return dst }

func (s *countScan) appendBeforePlan(dst []byte) []byte {
	keys, _ := s.examined()
	return wire.AppendInt32(wire.AppendInt32(dst, "keysExamined", keys), "peakTrackedMemBytes", 0)
}

// distinctScan reads one key for each value of a field.
type distinctScan struct {
	*indexScan
	field int // of the index
}

func (*distinctScan) name() string  { return "DISTINCT_SCAN" }
func (*distinctScan) filter() *test { return nil }

func (s *distinctScan) step() (state, *store.Record) {
	e, at := s.look()
	if e == nil {
		return at, nil
	}
	for s.next++; s.next < len(s.entries) && sameUpTo(e.key, s.entries[s.next].key, s.field+1); {
		s.next++
	}
	return advanced, e.record
}

func (s *distinctScan) appendPlan(dst []byte) []byte {
	dst = appendIndex(dst, s.index)
	dst = wire.AppendBool(wire.AppendBool(dst, "isShardFiltering", false), "isFetching", false)
	dst = wire.AppendString(wire.AppendInt32(dst, "indexVersion", 2), "direction", directionText(s.backward))
	return s.appendBounds(dst)
}

func (s *distinctScan) appendFigures(dst []byte) []byte {
	return wire.AppendInt32(wire.AppendInt32(appendExamined(dst, s.keys, 0), "chunkSkips", 0), "orphanChunkSkips", 0)
}
