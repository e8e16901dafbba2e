package explain

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// ranges is which keys of an index are read, and in which order.
type ranges struct {
	index    *index
	bounds   [][]interval // for each field
	backward bool
	min, max store.Key    // where the bounds are those of a command's min and max
	keyed    bool         // they are
	place    *condition   // whose places an index of places is searched for, nil for another search
	beside   []*condition // that its other fields meet
}

// indexScan reads keys of an index.
type indexScan struct {
	withoutInput
	ranges
	asks *test // of each key
	ns   string

	entries []entry
	next    int
	single  bool // the keys are one run, whose end the storage engine knows
	started bool
	seen    map[*store.Record]bool
	keys    int32
	seeks   int32
	tested  int32
	dropped int32
}

func newIndexScan(r ranges, asks *test, q *Query, ns string) *indexScan {
	s := &indexScan{ranges: r, asks: asks, ns: ns, entries: r.index.keys(q.Records), seen: make(map[*store.Record]bool)}
	if r.backward {
		s.entries = slices.Clone(s.entries)
		slices.Reverse(s.entries)
	}
	s.single = r.keyed || oneRun(r.bounds)
	return s
}

// oneRun reports whether bounds are points, then at most one interval, then everything.
func oneRun(bounds [][]interval) bool {
	open := false
	for _, list := range bounds {
		switch {
		case len(list) != 1 || open && !list[0].whole():
			return false
		case !list[0].isPoint():
			open = true
		}
	}
	return true
}

func (*indexScan) name() string               { return "IXSCAN" }
func (s *indexScan) filter() *test            { return s.asks }
func (s *indexScan) examined() (int32, int32) { return s.keys, 0 }

func (s *indexScan) step() (state, *store.Record) {
	e, at := s.look()
	if e == nil {
		return at, nil
	}
	s.next++
	return s.keep(e.record)
}

// look examines the next key. It returns the entry if the key is in the bounds, and otherwise the state of the scan.
func (s *indexScan) look() (*entry, state) {
	if s.ended {
		return nil, ended
	}
	if !s.started {
		s.start()
	}
	if s.next == len(s.entries) {
		s.ended = true
		return nil, ended
	}
	e := &s.entries[s.next]
	to := s.position(e.key)
	switch {
	case to.behind && s.single:
		s.ended = true
		return nil, ended
	case to.behind:
		s.keys++
		s.ended = true
		return nil, ended
	case !to.within:
		s.keys++
		s.seek(to)
		return nil, needTime
	}
	s.keys++
	return e, advanced
}

// start goes to the first key that may be in the bounds.
func (s *indexScan) start() {
	s.started = true
	s.seeks++
	if !s.keyed && emptyBounds(s.bounds) {
		s.next = len(s.entries)
	}
	for s.next < len(s.entries) && s.position(s.entries[s.next].key).before {
		s.next++
	}
}

// seek goes on to the next key that may be in the bounds. The position is of a key that is not in them.
func (s *indexScan) seek(at position) {
	s.seeks++
	key := s.entries[s.next].key
	for s.next++; s.next < len(s.entries); s.next++ {
		to := s.position(s.entries[s.next].key)
		skipped := !to.within && !to.behind && sameUpTo(key, s.entries[s.next].key, at.field) && to.field == at.field && to.interval == at.interval
		if !skipped {
			return
		}
	}
}

func sameUpTo(a, b store.Key, n int) bool {
	for i := range n {
		if query.Compare(a[i], b[i]) != 0 {
			return false
		}
	}
	return true
}

// keep returns the document of a key, unless it was returned for another key or the filter refuses it.
func (s *indexScan) keep(r *store.Record) (state, *store.Record) {
	if s.index.multikey {
		s.tested++
		if s.seen[r] {
			s.dropped++
			return needTime, nil
		}
		s.seen[r] = true
	}
	if !s.asks.meets(r.Doc) {
		return needTime, nil
	}
	return advanced, r
}

// position is where a key lies to the bounds.
type position struct {
	within   bool
	behind   bool // all of them
	before   bool // the first of them
	field    int  // the first whose value is in no interval
	interval int  // of that field, the next one
}

func (s *indexScan) position(k store.Key) position {
	if s.keyed {
		return s.ofKeys(k)
	}
	first := true // all fields so far are in their first interval
	for i, list := range s.bounds {
		down := s.backward != (s.index.fields[i].sign < 0)
		at, in := find(list, k[i], down)
		if in {
			first = first && at == 0 && nth(list, at, down).isPoint()
			continue
		}
		if at == len(list) {
			return position{behind: allLast(s.bounds[:i], k, s), field: i, interval: at}
		}
		return position{before: first && at == 0, field: i, interval: at}
	}
	return position{within: true}
}

// allLast reports whether no interval of the fields lies behind their values.
func allLast(bounds [][]interval, k store.Key, s *indexScan) bool {
	for i, list := range bounds {
		down := s.backward != (s.index.fields[i].sign < 0)
		at, _ := find(list, k[i], down)
		if at < len(list)-1 || !nth(list, at, down).isPoint() {
			return false
		}
	}
	return true
}

// find returns the interval that has a value, or else the first behind it, in the direction in which the index is read.
func find(list []interval, v query.Value, down bool) (int, bool) {
	for i := range list {
		place := nth(list, i, down).place(v)
		if down {
			place = -place
		}
		if place <= 0 {
			return i, place == 0
		}
	}
	return len(list), false
}

// nth returns an interval of a list that is read from its end if down is true.
func nth(list []interval, i int, down bool) interval {
	if down {
		i = len(list) - 1 - i
	}
	return list[i]
}

// ofKeys places a key by the bounds of min and max: from min on, before max.
func (s *indexScan) ofKeys(k store.Key) position {
	low := s.min != nil && s.index.compare(k, s.min) < 0
	high := s.max != nil && s.index.compare(k, s.max) >= 0
	if s.backward {
		low, high = high, low
	}
	return position{within: !low && !high, before: low, behind: high}
}

func (s *indexScan) appendPlan(dst []byte) []byte {
	dst = appendIndex(appendNamespace(dst, s.ns), s.index)
	dst = wire.AppendString(wire.AppendInt32(dst, "indexVersion", 2), "direction", directionText(s.backward))
	return s.appendBounds(dst)
}

func (r *ranges) appendBounds(dst []byte) []byte {
	all, dst := wire.BeginEmbedded(dst, "indexBounds")
	for i, list := range r.bounds {
		texts := make([]string, 0, len(list))
		down := r.backward != (r.index.fields[i].sign < 0)
		for _, each := range list {
			texts = append(texts, each.text(down))
		}
		if down {
			slices.Reverse(texts)
		}
		dst = wire.AppendStrings(dst, r.index.fields[i].path, texts)
	}
	return wire.EndDocument(dst, all)
}

func (s *indexScan) appendFigures(dst []byte) []byte {
	dst = wire.AppendInt32(wire.AppendInt32(dst, "keysExamined", s.keys), "seeks", s.seeks)
	dst = wire.AppendInt32(wire.AppendInt32(dst, "dupsTested", s.tested), "dupsDropped", s.dropped)
	return wire.AppendInt32(dst, "peakTrackedMemBytes", 0)
}
