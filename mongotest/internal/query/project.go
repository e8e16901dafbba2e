package query

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Projection is a compiled projection: fields to keep or to leave out, and fields that are computed.
type Projection struct {
	root       *field
	exclude    bool
	keepID     bool    // the _id, where the tree does not name it
	positional *Filter // whose match says which element of an array to keep; nil without ".$"
	path       path    // to that array
}

// field is a node of the tree of a projection's paths.
type field struct {
	name      string
	children  []*field          // in the order of the projection
	byName    map[string]*field // nil as long as there are few
	leaf      leafKind
	expr      Expr
	slice     *arraySlice
	elemMatch *elemMatch
}

// leafKind is what happens to a field at the end of a path.
type leafKind uint8

const (
	inner    leafKind = iota
	named             // kept or left out, as the projection does
	computed          // by an expression
	sliced
	matched // by $elemMatch
)

func (f *field) find(key []byte) *field {
	if f.byName != nil {
		return f.byName[string(key)]
	}
	for _, c := range f.children {
		if c.name == string(key) {
			return c
		}
	}
	return nil
}

// add adds a child of a new name.
func (f *field) add(c *field) {
	f.children = append(f.children, c)
	switch {
	case f.byName != nil:
		f.byName[c.name] = c
	case len(f.children) > many:
		f.byName = make(map[string]*field)
		for _, c := range f.children {
			f.byName[c.name] = c
		}
	}
}

// computes reports whether something below f is computed, so that it is there even where the document has nothing.
func (f *field) computes() bool {
	if f.leaf == computed {
		return true
	}
	for _, c := range f.children {
		if c.computes() {
			return true
		}
	}
	return false
}

// Append writes the projected document behind dst. A projection with expressions or ".$" needs AppendWith: here what fails
// is left out.
func (p *Projection) Append(dst, doc []byte) []byte {
	out, err := p.AppendWith(dst, doc, nil)
	if err != nil {
		return append(dst, EmptyDocument...)
	}
	return out
}

// AppendWith writes the projected document behind dst; vars are those of its expressions.
func (p *Projection) AppendWith(dst, doc []byte, vars any) ([]byte, error) {
	w := projecting{Projection: p, root: doc, vars: vars}
	if p.positional == nil {
		return w.document(dst, p.root, doc)
	}
	out, err := w.document(nil, p.root, doc)
	if err != nil {
		return nil, err
	}
	m := Matching{Vars: vars}
	if _, err := p.positional.MatchWith(doc, &m); err != nil {
		return nil, err
	}
	return p.path.keepElement(dst, out, &m)
}

// keepElement writes a document in which the first array on the path has only the element that a filter matched by.
func (p path) keepElement(dst, doc []byte, m *Matching) ([]byte, error) {
	at, dst := wire.BeginDocument(dst)
	it := wire.Elements(doc)
	for it.Next() {
		var err error
		v := Of(it.Element)
		switch {
		case string(it.Key) != p[0]:
		case v.IsArray():
			v, err = elementOf(v, m)
		case v.IsDocument() && len(p) > 1:
			v.Data, err = p[1:].keepElement(nil, v.Data, m)
		}
		if err != nil {
			return nil, err
		}
		dst = wire.AppendValue(dst, string(it.Key), v.Type, v.Data)
	}
	return wire.EndDocument(dst, at), it.Err
}

func elementOf(v Value, m *Matching) (Value, error) {
	list := v.elements()
	n, ok := m.Element()
	switch {
	case !ok:
		return v, mongoerr.Errorf(51246, "positional operator '.$' couldn't find a matching element in the array")
	case n >= len(list):
		return v, mongoerr.Errorf(51247, "positional operator '.$' element mismatch")
	}
	return Array(list[n : n+1]), nil
}

// Positional reports whether the projection keeps the element that the filter matched by.
func (p *Projection) Positional() bool { return p != nil && p.positional != nil }

// AppendElement writes the projected document as an element, as Append does.
func (p *Projection) AppendElement(dst []byte, key string, doc []byte) []byte {
	return p.Append(wire.BeginEmbeddedHead(dst, key), doc)
}

// AppendElementWith writes the projected document as an element, as AppendWith does.
func (p *Projection) AppendElementWith(dst []byte, key string, doc []byte, vars any) ([]byte, error) {
	return p.AppendWith(wire.BeginEmbeddedHead(dst, key), doc, vars)
}

// projecting is one application of a projection.
type projecting struct {
	*Projection
	root     []byte // the whole document, which expressions see
	vars     any
	unsliced bool // within an array in an array, where no slice reaches
}

// document writes the part of a document that f keeps: its fields in their order, then the computed ones.
func (w *projecting) document(dst []byte, f *field, doc []byte) ([]byte, error) {
	values, err := w.computed(f, doc)
	if err != nil {
		return nil, err
	}
	at, dst := wire.BeginDocument(dst)
	it := wire.Elements(doc)
	for nextField(&it) {
		if dst, err = w.existing(dst, f, it.Element, values); err != nil {
			return nil, err
		}
	}
	for _, c := range f.children {
		dst = w.added(dst, c, doc, values)
	}
	return wire.EndDocument(dst, at), it.Err
}

// computed evaluates the computed fields of a document, in the order written, wherever they are to stand.
func (w *projecting) computed(f *field, doc []byte) (map[*field]Value, error) {
	var values map[*field]Value
	for _, c := range f.children {
		if !c.computes() {
			continue
		}
		var v Value
		var err error
		if c.leaf == computed {
			v, err = c.expr(w.root, w.vars)
		} else {
			v, err = w.value(c, Lookup(doc, c.name))
		}
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = make(map[*field]Value)
		}
		values[c] = v
	}
	return values, nil
}

// existing writes an element of a document, if f leaves it.
func (w *projecting) existing(dst []byte, f *field, e wire.Element, values map[*field]Value) ([]byte, error) {
	c := f.find(e.Key)
	switch {
	case c == nil && f == w.Projection.root && string(e.Key) == "_id":
		if !w.keepID {
			return dst, nil
		}
		return wire.AppendElement(dst, e), nil
	case c == nil && !w.exclude, c != nil && c.leaf == named && w.exclude, c != nil && c.leaf == computed && !w.exclude:
		return dst, nil
	case c == nil:
		return wire.AppendElement(dst, e), nil
	case c.leaf == matched:
		if !w.exclude {
			return dst, nil
		}
		return c.appendMatch(dst, Of(e)), nil
	}
	v, known := values[c]
	if !known {
		var err error
		if v, err = w.value(c, Of(e)); err != nil {
			return dst, err
		}
	}
	if v.Missing() {
		return dst, nil
	}
	return wire.AppendValue(dst, c.name, v.Type, v.Data), nil
}

// added writes the fields behind a document's own: the computed ones, and the matches of an inclusion.
func (w *projecting) added(dst []byte, c *field, doc []byte, values map[*field]Value) []byte {
	v, known := values[c]
	switch {
	case known && !v.Missing() && (c.leaf == computed && !w.exclude || Lookup(doc, c.name).Missing()):
		return wire.AppendValue(dst, c.name, v.Type, v.Data)
	case c.leaf == matched && !w.exclude:
		return c.appendMatch(dst, Lookup(doc, c.name))
	}
	return dst
}

// appendMatch writes the array of the one element that an $elemMatch finds.
func (f *field) appendMatch(dst []byte, v Value) []byte {
	n, ok := f.elemMatch.first(v, nil)
	if !ok {
		return dst
	}
	one := Array(v.elements()[n : n+1])
	return wire.AppendValue(dst, f.name, one.Type, one.Data)
}

// value returns what f leaves of a value, Missing for nothing.
func (w *projecting) value(f *field, v Value) (Value, error) {
	switch {
	case f.leaf == sliced && w.unsliced:
		return v, nil
	case f.leaf == named:
		return v, nil
	case f.leaf == sliced:
		return f.slice.of(v), nil
	case v.IsDocument():
		doc, err := w.document(nil, f, v.Data)
		return Document(doc), err
	case v.IsArray():
		return w.array(f, v)
	case f.computes():
		doc, err := w.document(nil, f, EmptyDocument)
		return Document(doc), err
	case w.exclude:
		return v, nil
	}
	return Value{}, nil
}

func (w *projecting) array(f *field, v Value) (Value, error) {
	var kept []Value
	for _, e := range v.elements() {
		was := w.unsliced
		w.unsliced = was || e.IsArray()
		next, err := w.value(f, e)
		w.unsliced = was
		if err != nil {
			return v, err
		}
		if !next.Missing() {
			kept = append(kept, next)
		}
	}
	return Array(kept), nil
}

// arraySlice is the $slice of a projection.
type arraySlice struct {
	skip, limit int
}

func (s *arraySlice) of(v Value) Value {
	if !v.IsArray() {
		return v
	}
	list := v.elements()
	from := min(s.skip, len(list))
	if from < 0 {
		from = max(0, len(list)+from)
	}
	return Array(list[from:min(len(list), from+s.limit)])
}
