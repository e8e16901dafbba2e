package explain

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// planner finds the plans of one query.
type planner struct {
	*Query
	condition *condition
	sort      []sortField
	compare   func(a, b []byte) int
	indexes   []*index
	ofID      *index // that of _id, nil if there is none
	failed    error  // of a filter that could not be evaluated
}

type sortField struct {
	path string
	sign int
}

// candidate is a way to find the documents.
type candidate struct {
	scan     *ranges // nil for a scan of the collection
	branches []*candidate
	key      *condition // asked of keys
	document *condition // asked of documents, nil for nothing
	sorts    bool       // the documents do not come in order
}

// everything is the condition that all documents meet.
func everything(c *condition) bool { return c == nil || c.op == "$and" && len(c.children) == 0 }

// candidates returns the ways to find what meets a condition, the preferred first among those that are as good.
func (p *planner) candidates(c *condition) []*candidate {
	whole := &candidate{document: c, sorts: len(p.sort) > 0}
	if p.Natural != 0 {
		return []*candidate{whole}
	}
	if p.Index != nil {
		return p.hinted(c)
	}
	list := p.byIndex(c)
	for _, each := range list {
		if p.countsOneRun(each) {
			return []*candidate{each} // nothing is better
		}
	}
	if len(list) == 0 || !slices.ContainsFunc(list, func(c *candidate) bool { return !c.sorts }) {
		list = append(list, p.ordering(c)...)
	}
	if len(list) == 0 {
		return []*candidate{whole}
	}
	return list
}

// hinted returns the way by the index that must be used.
func (p *planner) hinted(c *condition) []*candidate {
	x := p.indexes[slices.IndexFunc(p.indexes, func(x *index) bool { return x.Index == p.Index })]
	if p.Min != nil || p.Max != nil {
		r := &ranges{index: x, keyed: true, min: keyOf(p.Min), max: keyOf(p.Max)}
		return []*candidate{p.inOrder(&candidate{scan: r, document: c})}
	}
	if found := p.scans(x, c); len(found) > 0 {
		return found
	}
	return []*candidate{p.inOrder(p.wholeIndex(x, c))}
}

func keyOf(doc []byte) store.Key {
	var key store.Key
	for it := wire.Elements(doc); it.Next(); {
		key = append(key, query.Of(it.Element))
	}
	return key
}

// wholeIndex reads all of an index.
func (p *planner) wholeIndex(x *index, c *condition) *candidate {
	found := &candidate{scan: &ranges{index: x}, document: c}
	if everything(c) {
		found.document = nil
	}
	for range x.fields {
		found.scan.bounds = append(found.scan.bounds, anything)
	}
	if !everything(c) && c.path != "" && !x.multikey && slices.ContainsFunc(x.fields, func(f indexField) bool { return f.path == c.path }) &&
		c.op == "$eq" && !c.value.IsNullish() && !c.value.IsArray() {
		found.key, found.document = c, nil
	}
	return found
}

// byIndex returns the ways by an index that bounds the search.
func (p *planner) byIndex(c *condition) []*candidate {
	if c.op == "$or" {
		return p.byBranches(c, nil)
	}
	var list []*candidate
	for _, x := range p.indexes {
		if x.Ordered() && !x.serves(c) || x.Hidden {
			continue
		}
		found := p.scans(x, c)
		if len(found) > 0 && x.OfID && len(found[0].scan.bounds[0]) == 1 && found[0].scan.bounds[0][0].isPoint() {
			return found // no other index finds less
		}
		list = append(list, found...)
	}
	leading := func(a *candidate) int {
		return slices.IndexFunc(parts(c), func(each *condition) bool { return each.field() == a.scan.index.fields[0].path })
	}
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Or(-cmp.Compare(a.fixed(), b.fixed()), -cmp.Compare(a.bounded(), b.bounded()), cmp.Compare(len(a.scan.bounds), len(b.scan.bounds)), cmp.Compare(leading(a), leading(b)))
	})
	for _, each := range parts(c) {
		if each.op == "$or" {
			list = append(list, p.byBranches(each, without(c, []*condition{each}))...)
		}
	}
	return list
}

// fixed returns how many fields at the beginning of the index have one value each.
func (c *candidate) fixed() int {
	n := slices.IndexFunc(c.scan.bounds, func(list []interval) bool { return len(list) != 1 || !list[0].isPoint() })
	if n < 0 {
		return len(c.scan.bounds)
	}
	return n
}

// bounded returns how many fields of the index have bounds.
func (c *candidate) bounded() int {
	return len(slices.DeleteFunc(slices.Clone(c.scan.bounds), func(list []interval) bool { return len(list) == 1 && list[0].whole() }))
}

// byBranches returns the way that searches each branch of an $or by an index of its own.
func (p *planner) byBranches(or, rest *condition) []*candidate {
	found := &candidate{document: rest, sorts: len(p.sort) > 0}
	for _, each := range or.children {
		alone := &planner{Query: p.Query, condition: p.condition, indexes: p.indexes}
		list := alone.byIndex(each)
		if len(list) == 0 {
			return nil
		}
		if list[0].scan != nil && list[0].scan.place != nil {
			list[0].document = &condition{op: "$or", children: []*condition{list[0].document}} // as the real server shows it
		}
		found.branches = append(found.branches, list[0])
	}
	return []*candidate{found}
}

// parts returns the conditions that must all be met.
func parts(c *condition) []*condition {
	if c.op == "$and" {
		return c.children
	}
	return []*condition{c}
}

// without returns what is left of a condition, nil if that is nothing.
func without(c *condition, met []*condition) *condition {
	rest := slices.DeleteFunc(slices.Clone(parts(c)), func(each *condition) bool { return slices.Contains(met, each) })
	switch len(rest) {
	case 0:
		return nil
	case 1:
		return rest[0]
	}
	return &condition{op: "$and", children: rest}
}

// scans returns the ways by an index, none if it does not bound the search by its first field. Where that field is an array in some
// document, there is one for each condition on the field, because only one of them can be its bounds.
func (p *planner) scans(x *index, c *condition) []*candidate {
	if !x.Ordered() {
		return p.byPlace(x, c)
	}
	first := parts(c)
	if !x.fields[0].multikey {
		first = []*condition{nil}
	}
	var list []*candidate
	for _, each := range first {
		if each != nil && each.field() != x.fields[0].path {
			continue
		}
		if found := p.scan(x, c, each); found != nil {
			list = append(list, found)
		}
	}
	return list
}

// scan returns the way by an index, nil if the index does not bound the search by its first field, or not by the condition that is
// given for that, if there is one.
func (p *planner) scan(x *index, c, first *condition) *candidate {
	found := &candidate{scan: &ranges{index: x}}
	var met, ofKeys []*condition
	var taken []string // arrays that bounds refer to
	for i := range x.fields {
		field := &x.fields[i]
		list, used := anything, false
		for _, each := range parts(c) {
			part, how := p.boundsOf(each, field, taken, used)
			if how == impossible || i == 0 && first != nil && each != first {
				continue
			}
			list, used = intersection(list, part), true
			if p.Kind == Count && each.op == "$eq" && how == docNeeded && each.value.Type == bson.TypeNull && !strings.Contains(each.path, ".") {
				how = exact // a key that is null counts, whether the field is there or not
			}
			switch how {
			case exact:
				met = append(met, each)
			case keyNeeded:
				if !x.multikey {
					met, ofKeys = append(met, each), append(ofKeys, each)
				}
			case docNeeded, impossible:
			}
		}
		if i == 0 && !used {
			return nil
		}
		if used {
			taken = append(taken, field.arrays...)
		}
		found.scan.bounds = append(found.scan.bounds, list)
	}
	found.key, found.document = andOf(ofKeys), without(c, met)
	return p.inOrder(found)
}

func andOf(list []*condition) *condition {
	if len(list) == 1 {
		return list[0]
	}
	if len(list) == 0 {
		return nil
	}
	return &condition{op: "$and", children: list}
}

// boundsOf returns the bounds by a condition. Of a field that is an array somewhere, one condition bounds the search: different
// elements may meet the others.
func (p *planner) boundsOf(c *condition, field *indexField, taken []string, used bool) ([]interval, tightness) {
	if c.field() != field.path || used && field.multikey || slices.ContainsFunc(field.arrays, func(a string) bool { return slices.Contains(taken, a) }) {
		return nil, impossible
	}
	return c.bounds(field)
}

// ordering returns the ways that read all of an index because it has the order that is asked for.
func (p *planner) ordering(c *condition) []*candidate {
	if len(p.sort) == 0 {
		return nil
	}
	var list []*candidate
	for _, x := range p.indexes {
		if !x.serves(c) || !x.complete() || p.byParts() && x.multikey {
			continue
		}
		if found := p.inOrder(p.wholeIndex(x, c)); !found.sorts {
			list = append(list, found)
		}
	}
	return list
}

// inOrder settles the direction in which an index is read for the order that is asked for, and whether a sort is needed.
func (p *planner) inOrder(c *candidate) *candidate {
	c.sorts = len(p.sort) > 0
	for _, backward := range [...]bool{false, true} {
		if c.sorts && c.scan.ordered(p.sort, backward) {
			c.sorts, c.scan.backward = false, backward
		}
	}
	return c
}

// ordered reports whether the keys come in the order of a sort.
func (r *ranges) ordered(sort []sortField, backward bool) bool {
	if r.keyed || r.place != nil {
		return false
	}
	for i := range r.index.fields {
		f := &r.index.fields[i]
		sign := f.sign
		if backward {
			sign = -sign
		}
		fixed := len(r.bounds[i]) == 1 && r.bounds[i][0].isPoint() && !f.multikey
		switch {
		case len(sort) == 0:
			return true
		case fixed && sort[0].path == f.path:
			sort = sort[1:]
		case fixed:
		case f.collated && sort[0] == (sortField{f.path, sign}) && (!f.multikey || len(r.bounds[i]) == 1 && r.bounds[i][0].whole()):
			sort = sort[1:]
		default:
			return false
		}
	}
	return len(sort) == 0
}

// test compiles a condition, nil for none.
func (p *planner) test(c *condition) *test {
	if everything(c) {
		return nil
	}
	doc := c.document()
	match, err := p.Match(doc)
	if err != nil && p.failed == nil {
		p.failed = err
	}
	return &test{document: doc, match: match, failed: &p.failed}
}

// stages returns the plan of a candidate, ready to be run.
func (p *planner) stages(c *candidate) stage {
	s, fetched := p.finding(c)
	covered := !fetched && c.branches == nil && p.covered(c)
	if !c.sorts && p.Skip > 0 && !fetched && c.document == nil && p.Kind == Find {
		s = &skip{withInput{input: s}, p.Skip, p.Skip}
		return p.limited(p.projected(p.fetched(s, c, fetched || covered || p.ReturnKey), covered))
	}
	return p.finished(p.fetched(s, c, fetched || covered || p.ReturnKey && c.document == nil || p.countsKeys(c)), c, covered)
}

// finished puts around the stages that find documents those that sort, skip, project and limit them.
func (p *planner) finished(s stage, c *candidate, covered bool) stage {
	below := false
	if c.sorts {
		most := p.Limit
		if most > 0 {
			most += p.Skip
		}
		if below = p.projectsBelowSort(); below {
			s = p.projected(s, false)
		}
		s = &sorting{withInput: withInput{input: s}, pattern: sortPattern(p.Sort), compare: p.compare, most: most, owned: p.Kind != Find || scored(p.Sort)}
	}
	if p.Skip > 0 && p.Kind == Find {
		s = &skip{withInput{input: s}, p.Skip, p.Skip}
	}
	if !below {
		s = p.projected(s, covered)
	}
	if c.sorts {
		return s
	}
	return p.limited(s)
}

// finding returns the stages that find the documents, and whether they give documents and not only keys.
func (p *planner) finding(c *candidate) (s stage, fetched bool) {
	switch {
	case c.branches != nil:
		or := &either{seen: make(map[*store.Record]bool)}
		fetched = true
		for _, each := range c.branches {
			branch := p.branch(each)
			if each.document == nil {
				fetched = false
			}
			or.from = append(or.from, p.fetched(branch, each, each.document == nil))
		}
		return or, fetched && c.document == nil
	case c.scan == nil:
		return &collectionScan{asks: p.test(c.document), ns: p.shownNS(), backward: p.Natural < 0, records: p.Records}, true
	}
	if c.scan.place != nil {
		return p.newPlaceScan(c.scan), false
	}
	found := newIndexScan(*c.scan, p.test(c.key), p.Query, p.shownNS())
	if p.countsOneRun(c) {
		return &countScan{found}, false
	}
	return found, false
}

// branch returns the stage that finds what one branch of an $or is about.
func (p *planner) branch(c *candidate) stage {
	if c.scan.place != nil {
		return p.newPlaceScan(c.scan)
	}
	return newIndexScan(*c.scan, p.test(c.key), p.Query, p.shownNS())
}

// byParts reports whether the branches of an $or are planned one by one.
func (p *planner) byParts() bool { return p.condition.op == "$or" && p.Natural == 0 && p.Index == nil }

// shownNS is the collection that the stages show, "" for none.
func (p *planner) shownNS() string {
	if p.byParts() {
		return ""
	}
	return p.NS
}

func (p *planner) fetched(s stage, c *candidate, done bool) stage {
	if done {
		return s
	}
	return &fetch{withInput: withInput{input: s}, asks: p.test(c.document), ns: p.shownNS()}
}

// countsKeys reports whether a count needs no documents.
func (p *planner) countsKeys(c *candidate) bool {
	return p.Kind == Count && c.document == nil && (c.scan != nil || c.branches != nil)
}

// countsOneRun reports whether a count needs no more than to count one run of keys.
func (p *planner) countsOneRun(c *candidate) bool {
	return p.countsKeys(c) && c.scan != nil && !c.scan.keyed && oneRun(c.scan.bounds) && everything(c.key) && !c.scan.backward && !emptyBounds(c.scan.bounds)
}

func (p *planner) limited(s stage) stage {
	if p.Limit > 0 && p.Kind != Count && p.Kind != Distinct {
		return &limit{withInput{input: s}, p.Limit, p.Limit}
	}
	return s
}

func (p *planner) projected(s stage, covered bool) stage {
	switch {
	case p.Kind != Find:
		return s
	case p.ReturnKey:
		return &projecting{withInput{input: s}, "RETURN_KEY", nil}
	case covered:
		return &projecting{withInput{input: s}, "PROJECTION_COVERED", p.Projection}
	case p.RecordID:
		shown := document(func(dst []byte) []byte {
			for it := wire.Elements(p.Projection); it.Next(); {
				dst = wire.AppendElement(dst, it.Element)
			}
			return wire.AppendDocument(dst, "$recordId", document(func(dst []byte) []byte { return wire.AppendString(dst, "$meta", "recordId") }))
		})
		return &projecting{withInput{input: s}, "PROJECTION_DEFAULT", shown}
	case p.Projection == nil:
		return s
	}
	return &projecting{withInput{input: s}, projectionKind(p.Projection), p.Projection}
}

// projectsBelowSort reports whether fields may be left out before the sort, which needs none of these.
func (p *planner) projectsBelowSort() bool {
	if p.Kind != Find || p.Projection == nil || p.ReturnKey || p.RecordID || p.Limit > 0 {
		return false
	}
	for it := wire.Elements(p.Projection); it.Next(); {
		if v := query.Of(it.Element); !v.IsNumber() && v.Type != trueType {
			return false
		}
	}
	return !slices.ContainsFunc(p.sort, func(f sortField) bool { return !kept(p.Projection, f.path) })
}

// kept reports whether a simple projection keeps a path.
func kept(projection []byte, path string) bool {
	name, _, _ := strings.Cut(path, ".")
	id, inclusive, others := true, false, false
	for it := wire.Elements(projection); it.Next(); {
		v := query.Of(it.Element)
		switch {
		case string(it.Key) == name:
			return v.True()
		case string(it.Key) == "_id":
			id = v.True()
		default:
			inclusive, others = inclusive || v.True(), true
		}
	}
	if name == "_id" {
		return id
	}
	return others && !inclusive || !others && !id
}

// projectionKind is simple for a projection that keeps or leaves out fields of the whole document.
func projectionKind(doc []byte) string {
	for it := wire.Elements(doc); it.Next(); {
		v := query.Of(it.Element)
		if !v.IsNumber() && v.Type != trueType || strings.Contains(string(it.Key), ".") {
			return "PROJECTION_DEFAULT"
		}
	}
	return "PROJECTION_SIMPLE"
}

// covered reports whether the keys of an index have all that the result shows.
func (p *planner) covered(c *candidate) bool {
	if p.Projection == nil || c.document != nil || c.sorts || p.ReturnKey || p.RecordID || c.scan.index.multikey {
		return false
	}
	id := true // the result has the _id
	for it := wire.Elements(p.Projection); it.Next(); {
		v := query.Of(it.Element)
		switch {
		case !v.IsNumber() && v.Type != trueType:
			return false
		case string(it.Key) == "_id":
			id = v.True()
		case !v.True() || !c.scan.has(string(it.Key)):
			return false
		}
	}
	return !id || c.scan.has("_id")
}

func (r *ranges) has(path string) bool {
	return slices.ContainsFunc(r.index.fields, func(f indexField) bool { return f.path == path && f.collated })
}
