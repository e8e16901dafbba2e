package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Search is the $near or $text of a filter, with the index that answers it.
type Search struct {
	store.Search
	// Distance compiles a filter that is a $near alone: it returns the distance of a document that is found.
	Distance func(filter []byte) (func(doc []byte) (query.Value, bool, error), error)
}

// asks returns the part of a condition that is a search, nil if it is not one of the conditions that must all be met.
func (c *condition) asks() *condition {
	for _, each := range parts(c) {
		if each.op == "$near" || each.op == "$text" {
			return each
		}
	}
	return nil
}

// Plain reports whether a filter's $near or $text is one of the conditions that must all be met.
func Plain(filter []byte) bool { return parseFilter(filter, nil).asks() != nil }

// searched returns the plan of a query with a search.
func (p *planner) searched() stage {
	c := p.condition.asks()
	found := &candidate{document: without(p.condition, []*condition{c}), sorts: len(p.sort) > 0}
	var s stage
	if c.op == "$near" {
		s = p.nearest(c)
	} else {
		c.value = query.Document(p.Search.Asked)
		s = p.textMatch()
	}
	if found.document != nil {
		s = &fetch{withInput: withInput{input: s}, asks: p.test(found.document), ns: p.shownNS(), has: true}
	}
	return p.finished(s, found, false)
}

// listing gives the documents of a list, in its order.
type listing struct {
	withoutInput
	found []*store.Record
	next  int
}

func (s *listing) step() (state, *store.Record) {
	if s.next == len(s.found) {
		return s.end()
	}
	s.next++
	return advanced, s.found[s.next-1]
}

// near finds the documents in the order of their distance. The real server searches one ring after the other; here all documents are
// looked at once, so there is one interval.
type near struct {
	listing
	index  *store.Index
	kind   string
	ns     string
	looked int32
}

func (p *planner) nearest(c *condition) stage {
	s := &near{index: p.Search.Index, kind: p.Search.Kind, ns: p.NS, looked: int32(len(p.Records))}
	type placed struct {
		record   *store.Record
		distance query.Value
	}
	distance, err := p.Search.Distance(c.document())
	var list []placed
	for _, r := range p.Records {
		if err != nil {
			break
		}
		d, ok, failed := distance(r.Doc)
		if err = failed; ok {
			list = append(list, placed{r, d})
		}
	}
	if err != nil && p.failed == nil {
		p.failed = err
	}
	slices.SortStableFunc(list, func(a, b placed) int { return query.Compare(a.distance, b.distance) })
	for _, each := range list {
		s.found = append(s.found, each.record)
	}
	return s
}

func (s *near) name() string {
	if s.kind == "2d" {
		return "GEO_NEAR_2D"
	}
	return "GEO_NEAR_2DSPHERE"
}

func (s *near) examined() (int32, int32) { return 0, s.looked }

func (s *near) appendPlan(dst []byte) []byte {
	dst = wire.AppendString(wire.AppendDocument(appendNamespace(dst, s.ns), "keyPattern", s.index.Pattern), "indexName", s.index.Name)
	return wire.AppendInt32(dst, "indexVersion", 2)
}

func (s *near) appendFigures(dst []byte) []byte {
	list, dst := wire.BeginArray(dst, "searchIntervals")
	at, dst := wire.BeginEmbedded(dst, "0")
	dst = wire.AppendInt32(wire.AppendInt32(dst, "nBuffered", int32(len(s.found))), "nReturned", int32(s.next))
	dst = wire.EndDocument(wire.EndDocument(dst, at), list)
	return appendSpills(wire.AppendBool(dst, "usedDisk", false))
}

func appendSpills(dst []byte) []byte {
	for _, name := range [...]string{"spills", "spilledRecords", "spilledBytes", "spilledDataStorageSize"} {
		dst = wire.AppendInt32(dst, name, 0)
	}
	return dst
}

// textMatch returns the plan that finds the words of a $text.
func (p *planner) textMatch() stage {
	s := &textMatch{search: p.Search, ns: p.shownNS(), failed: &p.failed}
	var scans []stage
	multikey := false
	for _, doc := range p.Records {
		terms, err := p.Search.Terms(doc.Doc)
		if err != nil && p.failed == nil {
			p.failed = err
		}
		multikey = multikey || len(terms) > 1
	}
	for _, term := range p.Search.Words.Asked().Terms {
		scans = append(scans, p.termScan(term, multikey))
	}
	if len(scans) == 0 {
		scans = []stage{&nothing{reason: "predicateEvalsToFalse"}}
	}
	switch {
	case scored(p.Sort) || scored(p.Projection):
		s.input = &textOr{either: either{from: scans, seen: make(map[*store.Record]bool)}}
	case len(scans) == 1:
		s.input = &fetch{withInput: withInput{input: scans[0]}, ns: p.shownNS()}
	default:
		s.input = &fetch{withInput: withInput{input: &either{from: scans, seen: make(map[*store.Record]bool)}}, ns: p.shownNS()}
	}
	return s
}

// textMatch leaves out the documents that do not meet all that a $text asks.
type textMatch struct {
	withInput
	search   *Search
	ns       string
	rejected int32
	failed   *error
}

func (*textMatch) name() string { return "TEXT_MATCH" }

func (s *textMatch) step() (state, *store.Record) {
	if s.eof() {
		return ended, nil
	}
	st, r := work(s.input)
	if st != advanced {
		return st, nil
	}
	_, ok, err := s.search.Text(r.Doc, nil)
	if err != nil && *s.failed == nil {
		*s.failed = err
	}
	if !ok {
		s.rejected++
		return needTime, nil
	}
	return advanced, r
}

func (s *textMatch) appendPlan(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(appendNamespace(dst, s.ns), "indexPrefix")
	dst = wire.AppendString(wire.EndDocument(dst, at), "indexName", s.search.Index.Name)
	at, dst = wire.BeginEmbedded(dst, "parsedTextQuery")
	asked := s.search.Words.Asked()
	dst = wire.AppendStrings(wire.AppendStrings(dst, "terms", asked.Terms), "negatedTerms", asked.Negated)
	dst = wire.AppendStrings(wire.AppendStrings(dst, "phrases", asked.Phrases), "negatedPhrases", asked.Without)
	return wire.AppendInt32(wire.EndDocument(dst, at), "textIndexVersion", 3)
}

func (s *textMatch) appendFigures(dst []byte) []byte {
	return wire.AppendInt32(dst, "docsRejected", s.rejected)
}

// termScan reads the keys of one word, those with the highest scores first.
type termScan struct {
	listing
	index    *store.Index
	ns       string
	multikey bool
}

func (p *planner) termScan(term string, multikey bool) stage {
	s := &termScan{index: p.Search.Index, ns: p.shownNS(), multikey: multikey}
	scores := make(map[*store.Record]float64)
	for _, r := range p.Records {
		terms, _ := p.Search.Terms(r.Doc)
		if score, ok := terms[term]; ok {
			scores[r] = score
			s.found = append(s.found, r)
		}
	}
	slices.SortStableFunc(s.found, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b.ID, a.ID))
	})
	return s
}

func (*termScan) name() string               { return "IXSCAN" }
func (s *termScan) examined() (int32, int32) { return int32(s.next), 0 }

func (s *termScan) appendPlan(dst []byte) []byte {
	dst = wire.AppendString(wire.AppendDocument(appendNamespace(dst, s.ns), "keyPattern", s.index.Pattern), "indexName", s.index.Name)
	dst = wire.AppendBool(wire.AppendBool(wire.AppendBool(dst, "isMultiKey", s.multikey), "isUnique", false), "isSparse", false)
	dst = wire.AppendBool(dst, "isPartial", !query.Lookup(s.index.Raw, "partialFilterExpression").Missing())
	dst = wire.AppendString(wire.AppendInt32(dst, "indexVersion", 2), "direction", "backward")
	return wire.AppendDocument(dst, "indexBounds", query.EmptyDocument)
}

func (s *termScan) appendFigures(dst []byte) []byte {
	dst = wire.AppendInt32(wire.AppendInt32(dst, "keysExamined", int32(s.next)), "seeks", 1)
	tested := int32(0)
	if s.multikey {
		tested = int32(s.next)
	}
	return wire.AppendInt32(wire.AppendInt32(wire.AppendInt32(dst, "dupsTested", tested), "dupsDropped", 0), "peakTrackedMemBytes", 0)
}

// textOr reads the documents of all words before it gives the first, to add up their scores.
type textOr struct {
	either
	begun   bool
	list    []*store.Record
	over    bool
	fetched int32
}

func (*textOr) name() string               { return "TEXT_OR" }
func (s *textOr) eof() bool                { return s.over }
func (s *textOr) examined() (int32, int32) { return 0, s.fetched }

func (s *textOr) step() (state, *store.Record) {
	switch {
	case !s.begun:
		s.begun = true
		return needTime, nil
	case !s.either.eof():
		return s.read()
	case len(s.list) == 0:
		s.over = true
		return ended, nil
	}
	r := s.list[0]
	s.list = s.list[1:]
	return advanced, r
}

func (s *textOr) read() (state, *store.Record) {
	st, r := s.either.step()
	if st == advanced {
		s.fetched++
		s.list = append(s.list, r)
	}
	return needTime, nil
}

func (s *textOr) appendFigures(dst []byte) []byte {
	dst = wire.AppendBool(wire.AppendInt32(dst, "docsExamined", s.fetched), "usedDisk", false)
	return wire.AppendInt32(appendSpills(dst), "peakTrackedMemBytes", 0)
}

// scored reports whether a sort or a projection has the score of a $text.
func scored(doc []byte) bool {
	for it := wire.Elements(doc); it.Next(); {
		if isMeta(query.Of(it.Element)) {
			return true
		}
	}
	return false
}

func isMeta(v query.Value) bool { return v.IsDocument() && !query.Lookup(v.Data, "$meta").Missing() }

// sortPattern returns a sort as a stage shows it: each $meta has a name of its own.
func sortPattern(sort []byte) []byte {
	n := 0
	return document(func(dst []byte) []byte {
		for it := wire.Elements(sort); it.Next(); {
			v := query.Of(it.Element)
			if !isMeta(v) {
				dst = wire.AppendElement(dst, it.Element)
				continue
			}
			dst = wire.AppendDocument(dst, fmt.Sprintf("$computed%d", n), v.Data)
			n++
		}
		return dst
	})
}
