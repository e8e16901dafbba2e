package explain

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// fetch reads the documents of keys.
type fetch struct {
	withInput
	asks *test
	ns   string
	docs int32
	has  bool // the documents are there already
}

func (*fetch) name() string                   { return "FETCH" }
func (s *fetch) filter() *test                { return s.asks }
func (s *fetch) examined() (int32, int32)     { return 0, s.docs }
func (s *fetch) appendPlan(dst []byte) []byte { return appendNamespace(dst, s.ns) }

func (s *fetch) step() (state, *store.Record) {
	if s.eof() {
		return ended, nil
	}
	st, r := work(s.input)
	if st != advanced {
		return st, nil
	}
	s.docs++
	if !s.asks.meets(r.Doc) {
		return needTime, nil
	}
	return advanced, r
}

func (s *fetch) appendFigures(dst []byte) []byte {
	already := int32(0)
	if s.has {
		already = s.docs
	}
	return wire.AppendInt32(wire.AppendInt32(dst, "docsExamined", s.docs), "alreadyHasObj", already)
}

// limit ends after a number of documents.
type limit struct {
	withInput
	most, left int64
}

func (*limit) name() string { return "LIMIT" }
func (s *limit) eof() bool  { return s.left == 0 || s.input.eof() }
func (s *limit) appendPlan(dst []byte) []byte {
	return wire.AppendInt32(dst, "limitAmount", int32(s.most))
}

func (s *limit) step() (state, *store.Record) {
	if s.left == 0 {
		return ended, nil
	}
	st, r := work(s.input)
	if st == advanced {
		s.left--
	}
	return st, r
}

// skip leaves out the first documents.
type skip struct {
	withInput
	n, left int64
}

func (*skip) name() string                   { return "SKIP" }
func (s *skip) appendPlan(dst []byte) []byte { return wire.AppendInt32(dst, "skipAmount", int32(s.n)) }

func (s *skip) step() (state, *store.Record) {
	st, r := work(s.input)
	if st == advanced && s.left > 0 {
		s.left--
		return needTime, nil
	}
	return st, r
}

// sorting puts documents in order when it has all of them.
type sorting struct {
	withInput
	pattern []byte
	compare func(a, b []byte) int
	most    int64 // 0 for all
	owned   bool  // it sorts more than documents: records for a write, or keys
	loaded  bool
	over    bool
	list    []*store.Record
	size    int32
}

func (*sorting) name() string { return "SORT" }

// eof is known after the last document only if the sort has a limit.
func (s *sorting) eof() bool {
	return s.over || s.most > 0 && s.advanced > 0 && len(s.list) == 0
}

func (s *sorting) step() (state, *store.Record) {
	if !s.loaded {
		return s.load()
	}
	if len(s.list) == 0 {
		s.over = true
		return ended, nil
	}
	r := s.list[0]
	s.list = s.list[1:]
	return advanced, r
}

func (s *sorting) load() (state, *store.Record) {
	st, r := work(s.input)
	switch st {
	case advanced:
		s.list = append(s.list, r)
		s.size += int32(len(r.Doc))
	case ended:
		s.loaded = true
		slices.SortStableFunc(s.list, func(a, b *store.Record) int { return s.compare(a.Doc, b.Doc) })
		if s.most > 0 {
			s.list = s.list[:min(int64(len(s.list)), s.most)]
		}
	case needTime:
	}
	return needTime, nil
}

// sortMemory is how many bytes a sort may hold.
const sortMemory = 100 << 20

func (s *sorting) appendPlan(dst []byte) []byte {
	dst = wire.AppendInt32(wire.AppendDocument(dst, "sortPattern", s.pattern), "memLimit", sortMemory)
	if s.most > 0 {
		dst = wire.AppendInt32(dst, "limitAmount", int32(s.most))
	}
	if s.owned {
		return wire.AppendString(dst, "type", "default")
	}
	return wire.AppendString(dst, "type", "simple")
}

func (s *sorting) appendFigures(dst []byte) []byte {
	dst = wire.AppendBool(wire.AppendInt32(dst, "totalDataSizeSorted", s.size), "usedDisk", false)
	return wire.AppendInt32(appendSpills(dst), "peakTrackedMemBytes", s.size)
}

// projecting makes other documents of those found.
type projecting struct {
	withInput
	kind string
	by   []byte // nil for the key of the index
}

func (s *projecting) name() string                 { return s.kind }
func (s *projecting) step() (state, *store.Record) { return work(s.input) }

func (s *projecting) appendPlan(dst []byte) []byte {
	if s.by == nil {
		return dst
	}
	return wire.AppendDocument(dst, "transformBy", s.by)
}

func (s *projecting) appendFigures(dst []byte) []byte {
	if s.kind == "PROJECTION_DEFAULT" {
		return wire.AppendInt32(dst, "peakTrackedMemBytes", 0)
	}
	return dst
}

// either returns the documents of several stages, each once.
type either struct {
	counters
	from    []stage
	next    int
	seen    map[*store.Record]bool
	tested  int32
	dropped int32
}

func (*either) name() string                 { return "OR" }
func (s *either) eof() bool                  { return s.next == len(s.from) }
func (s *either) inputs() []stage            { return s.from }
func (*either) appendPlan(dst []byte) []byte { return dst }

func (s *either) step() (state, *store.Record) {
	if s.eof() {
		return ended, nil
	}
	st, r := work(s.from[s.next])
	if st == ended {
		if s.next++; s.eof() {
			return ended, nil
		}
	}
	if st != advanced {
		return needTime, nil
	}
	s.tested++
	if s.seen[r] {
		s.dropped++
		return needTime, nil
	}
	s.seen[r] = true
	return advanced, r
}

func (s *either) appendFigures(dst []byte) []byte {
	dst = wire.AppendInt32(wire.AppendInt32(dst, "dupsTested", s.tested), "dupsDropped", s.dropped)
	return wire.AppendInt32(dst, "peakTrackedMemBytes", 0)
}
