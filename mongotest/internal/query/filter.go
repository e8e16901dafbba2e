package query

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Filter is a compiled query filter.
type Filter struct {
	all  []node
	id   Value // of {_id: value}
	only bool  // the filter is that and nothing else

	near *Near       // nil for none
	text *TextSearch // the same
	flaw error       // of a $text; that there is no index comes first

	collation Collation // by which it compares strings, nil if by their bytes
}

// WithNear returns the filter with a search by distance.
func (f *Filter) WithNear(n *Near) *Filter {
	both := *f
	both.near, both.only, both.id = n, false, f.id
	both.all = slices.Concat([]node{&pathNode{path: n.at, condition: n}}, f.all)
	if f.only {
		both.all = append(both.all, &pathNode{path: path{"_id"}, condition: newEquality(f.id)})
	}
	return &both
}

// node is one condition on a whole document. The Matching may be nil where nothing in it is needed.
type node interface {
	match(doc []byte, m *Matching) bool
}

// ParseFilter compiles a filter document. It keeps parts of doc, which must not change afterwards.
func ParseFilter(doc []byte) (*Filter, error) {
	f := &Filter{}
	if err := f.Parse(doc); err != nil {
		return nil, err
	}
	return f, nil
}

// Parse compiles a filter document into f, in place of its former content. It keeps parts of doc.
func (f *Filter) Parse(doc []byte) error { return f.ParseWith(doc, Hooks{}) }

// ParseWith is Parse with hooks. Such a filter is matched by MatchWith.
func (f *Filter) ParseWith(doc []byte, h Hooks) error {
	*f = Filter{all: f.all[:0], collation: h.Collation}
	if h.Collation == nil && f.parseID(doc) {
		return nil
	}
	p := filterParser{expr: h.Expr, where: h.Where, refused: h.Refused, collation: h.Collation, searches: h.Searches, counted: &searched{}}
	nodes, err := p.filter(doc, f.all)
	if err == nil {
		err = p.failed
	}
	if err != nil {
		return err
	}
	f.all = ordered(nodes)
	if err := f.checkSearches(p.counted); err != nil {
		if f.text == nil {
			return err
		}
		f.flaw = err
	}
	for _, n := range nodes {
		if p, ok := n.(*pathNode); ok && len(p.path) == 1 && p.path[0] == "_id" {
			if e, ok := p.condition.(*equality); ok {
				f.id = e.value
			}
		}
	}
	return nil
}

// parseID recognizes {_id: value} without compiling anything.
func (f *Filter) parseID(doc []byte) bool {
	it := wire.Elements(doc)
	if !it.Next() || string(it.Key) != "_id" || !plainID(Of(it.Element)) {
		return false
	}
	v := Of(it.Element)
	if it.Next() || it.Err != nil {
		return false
	}
	f.id, f.only = v, true
	return true
}

// plainID reports whether an _id in a filter is a value to look up, not an expression.
func plainID(v Value) bool {
	switch v.Type {
	case bson.TypeRegex, bson.TypeArray, bson.TypeNull, bson.TypeUndefined:
		return false
	case bson.TypeEmbeddedDocument:
		it := wire.Elements(v.Data)
		return !it.Next() || len(it.Key) == 0 || it.Key[0] != '$'
	}
	return true
}

// ID returns the _id that a matching document must have, if the filter names one, in a collection with a collation; nil for none. A text is
// looked up only if the filter compares by the same.
func (f *Filter) ID(of Collation) (Value, bool) {
	return f.id, !f.id.Missing() && plainID(f.id) && (f.collation == of || !HasText(f.id))
}

// FindsByID reports whether a filter may find documents by the index of _id.
func (f *Filter) FindsByID() bool {
	_, ok := f.ID(f.collation)
	return ok || len(f.IDScans(f.collation)) > 0
}

// OnlyID reports whether the filter asks for an _id that can be looked up and for nothing else, however that is said.
func (f *Filter) OnlyID(of Collation) bool {
	id := f.id
	if !f.only {
		id = onlyID(f.all)
	}
	return !id.Missing() && (f.collation == of || !HasText(id))
}

// onlyID returns the one _id that conditions ask for, Missing if they ask for anything else.
func onlyID(all []node) Value {
	var id Value
	for _, n := range all {
		v := Value{}
		if p, ok := n.(*pathNode); ok && len(p.path) == 1 && p.path[0] == "_id" {
			v = onlyValue(p.condition)
		}
		if v.Missing() || !id.Missing() && !Equal(id, v) {
			return Value{}
		}
		id = v
	}
	return id
}

// onlyValue returns the one value that a condition asks for, Missing if it asks for anything else or for more.
func onlyValue(c condition) Value {
	switch c := c.(type) {
	case *equality:
		if plainID(c.value) {
			return c.value
		}
	case *leaf:
		list, _ := c.predicate.(in)
		var one Value
		for _, p := range list.list {
			e, ok := p.(equalTo)
			if !ok || !plainID(e.value) || !one.Missing() && !Equal(one, e.value) {
				return Value{}
			}
			one = e.value
		}
		return one
	}
	return Value{}
}

// Match reports whether a document matches. A filter with an $expr needs MatchWith: here its failure is no match.
func (f *Filter) Match(doc []byte) bool {
	if f.only {
		return Equal(Lookup(doc, "_id"), f.id)
	}
	return matchAll(f.all, doc, nil)
}

// MatchWith reports whether a document matches, with the variables in m, and leaves there which array element it matched
// by. Its error is that of an $expr.
func (f *Filter) MatchWith(doc []byte, m *Matching) (bool, error) {
	if known, ok := m.Verdicts.of(doc); ok {
		m.element, m.Found = known.element, known.found
		return known.ok, known.err
	}
	m.element, m.err, m.Found = 0, nil, Found{}
	if err := m.Work.Bytes(len(doc)); err != nil {
		return false, err
	}
	ok := f.match(doc, m) && m.err == nil
	m.Verdicts.learn(doc, m.Work, verdict{ok, m.element, m.Found, m.err})
	return ok, m.err
}

func (f *Filter) match(doc []byte, m *Matching) bool {
	if f.only {
		return f.Match(doc)
	}
	return matchAll(f.all, doc, m)
}

func matchAll(nodes []node, doc []byte, m *Matching) bool {
	for _, n := range nodes {
		if !m.goOn() || !n.match(doc, m) {
			return false
		}
	}
	return true
}

type (
	orNode   [][]node
	norNode  [][]node
	exprNode struct{ expr Expr }
	constant bool
)

// match asks the branches without noting elements: which branch is met first is no property of the filter.
func (n orNode) match(doc []byte, m *Matching) bool {
	was := m.save()
	for _, part := range n {
		if matchAll(part, doc, m) {
			m.restore(was)
			return true
		}
	}
	m.restore(was)
	return false
}

func (n norNode) match(doc []byte, m *Matching) bool { return !orNode(n).match(doc, m) }

func (m *Matching) save() int {
	if m == nil {
		return 0
	}
	return m.element
}

func (m *Matching) restore(element int) {
	if m != nil {
		m.element = element
	}
}

func (n exprNode) match(doc []byte, m *Matching) bool {
	var vars any
	if m != nil {
		if m.err != nil {
			return false
		}
		vars = m.Vars
	}
	v, err := n.expr(doc, vars)
	if err != nil {
		if m != nil {
			m.err = err
		}
		return false
	}
	return Truth(v)
}

func (n constant) match([]byte, *Matching) bool { return bool(n) }

// pathNode is a condition on one path.
type pathNode struct {
	path      path
	condition condition
}

func (n *pathNode) match(doc []byte, m *Matching) bool { return n.condition.onPath(n.path, doc, m) }

// ordered sorts conditions as the real server does before it matches: by kind, then by path, expressions last. It decides
// what the positional operator stands for, the element that the last of them was met by, and whether an expression is asked.
func ordered(nodes []node) []node {
	if len(nodes) > 1 {
		slices.SortStableFunc(nodes, compareNodes)
	}
	return nodes
}

func compareNodes(a, b node) int {
	p, pok := a.(*pathNode)
	q, qok := b.(*pathNode)
	if pok && qok {
		return cmp.Or(cmp.Compare(kindOrder(p.condition), kindOrder(q.condition)), slices.Compare(p.path, q.path))
	}
	_, aok := a.(exprNode)
	_, bok := b.(exprNode)
	return cmp.Or(boolCompare(aok, bok), boolCompare(qok, pok))
}

// kindOrder is where a condition's kind stands among the real server's.
func kindOrder(c condition) int {
	switch c := c.(type) {
	case *elemMatch:
		return 2
	case *equality:
		return 5
	case *leaf:
		return predicateOrder(c.predicate)
	}
	return 30
}

func predicateOrder(p predicate) int {
	switch p := p.(type) {
	case keyed:
		return predicateOrder(p.predicate)
	case size:
		return 4
	case order:
		return p.kind()
	case regex:
		return 10
	case mod:
		return 11
	case exists:
		return 12
	case in:
		return 13
	}
	return 20
}
