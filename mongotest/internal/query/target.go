package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// operator changes one field: it returns the new value for the old one. Missing stands for a field that is not there,
// before and after.
type operator interface {
	apply(old Value, env *Env) (Value, error)
}

// target is a tree of the paths that an update touches: an operator at each leaf. A document is rebuilt in one walk along
// it, so that the cost does not depend on the number of operators times the number of fields.
type target struct {
	name     string
	op       operator
	children []*target
	byName   map[string]int
	unsorted bool        // the children are not in the order in which new fields are created
	padded   map[int]int // the child of an index that is written with zeros in front; nil if not known yet
	matched  bool        // a child is "$"
	elements []*target   // instead of children: of $[] and $[identifier], what elements undergo
	selects  *arrayFilter
}

// addPath adds an operator. With filters, array components are known; without, all components are names.
func (t *target) addPath(p path, op operator, filters arrayFilters) error {
	at := t
	for i, name := range p {
		all, identifier := isAllElements(name)
		all = all && filters != nil
		if at.op != nil || all && len(at.children) > 0 || !all && len(at.elements) > 0 {
			return conflict(p, p[:i])
		}
		if all {
			filter, err := filters.named(identifier, p)
			if err != nil {
				return err
			}
			at = at.element(name, filter)
		} else {
			at.matched = at.matched || filters != nil && name == "$"
			at = at.child(name)
		}
	}
	if at.op != nil || len(at.children) > 0 || len(at.elements) > 0 {
		return conflict(p, p)
	}
	at.op = op
	return nil
}

func conflict(p, at path) error {
	return mongoerr.Errorf(mongoerr.ConflictingUpdateOperators, "Updating the path '%s' would create a conflict at '%s'", dotted(p), dotted(at))
}

// child returns the child of that name, made if it is new.
func (t *target) child(name string) *target {
	if i := t.find([]byte(name)); i >= 0 {
		return t.children[i]
	}
	c := &target{name: name}
	t.add(c)
	return c
}

// add adds a child of a new name.
func (t *target) add(c *target) {
	n := len(t.children)
	t.unsorted = t.unsorted || n > 0 && before(c.name, t.children[n-1].name)
	t.children = append(t.children, c)
	switch {
	case t.byName != nil:
		t.byName[c.name] = n
	case n >= many:
		t.index()
	}
}

func (t *target) index() {
	t.byName = make(map[string]int, 2*len(t.children))
	for i, c := range t.children {
		t.byName[c.name] = i
	}
}

// inOrder returns the children in the order in which new fields are created.
func (t *target) inOrder() []*target {
	if t.unsorted {
		t.unsorted = false
		slices.SortFunc(t.children, func(a, b *target) int { return boolCompare(before(b.name, a.name), before(a.name, b.name)) })
		if t.byName != nil {
			t.index()
		}
	}
	return t.children
}

// before orders names as an update creates them: numbers first, by value unless there are zeros in front of one, others by
// their bytes.
func before(a, b string) bool {
	na, oka := index(a)
	nb, okb := index(b)
	if oka && okb {
		return na < nb
	}
	_, oka = indexPadded(a)
	_, okb = indexPadded(b)
	if oka != okb {
		return oka
	}
	return a < b
}

// indexPadded is index of a name that may have zeros in front, as it may in an update.
func indexPadded(name string) (int, bool) {
	digits := strings.TrimLeft(name, "0")
	if digits == "" && name != "" {
		digits = "0"
	}
	return index(digits)
}

// findIndex returns which child stands for an element of an array, -1 for none.
func (t *target) findIndex(key []byte, n int) int {
	if i := t.find(key); i >= 0 {
		return i
	}
	if t.padded == nil {
		t.padded = make(map[int]int)
		for i, c := range slices.Backward(t.children) {
			if at, ok := indexPadded(c.name); ok && c.name[0] == '0' {
				t.padded[at] = i
			}
		}
	}
	if i, ok := t.padded[n]; ok {
		return i
	}
	return -1
}

func (t *target) find(key []byte) int {
	if t.byName != nil {
		if i, ok := t.byName[string(key)]; ok {
			return i
		}
		return -1
	}
	for i, c := range t.children {
		if c.name == string(key) {
			return i
		}
	}
	return -1
}

// change is what becomes of one child of a target in a document.
type change struct {
	start, end int // of the field in the document; 0 if it is not there
	value      Value
}

// document appends doc with the changes below t. They are made in the order of the children, whatever that of the fields.
func (t *target) document(dst, doc []byte, env *Env) ([]byte, error) {
	t.inOrder()
	changes, order, err := t.locate(doc)
	if err != nil {
		return nil, err
	}
	for i, c := range t.children {
		if changes[i].value, err = c.value(changes[i].value, env, c.name); err != nil {
			return nil, err
		}
	}
	at, dst := wire.BeginDocument(dst)
	copied := 4
	for _, i := range order {
		dst = append(dst, doc[copied:changes[i].start]...)
		dst = appendField(dst, t.children[i].name, changes[i].value)
		copied = changes[i].end
	}
	dst = append(dst, doc[copied:len(doc)-1]...)
	for i, c := range t.children {
		if changes[i].start == 0 {
			dst = appendField(dst, c.name, changes[i].value)
		}
	}
	return wire.EndDocument(dst, at), nil
}

func appendField(dst []byte, name string, v Value) []byte {
	if v.Missing() {
		return dst
	}
	return wire.AppendValue(dst, name, v.Type, v.Data)
}

// locate finds the children's fields in a document, and their order there.
func (t *target) locate(doc []byte) ([]change, []int, error) {
	changes, order := make([]change, len(t.children)), make([]int, 0, len(t.children))
	it := wire.Elements(doc)
	for pos := 4; it.Next(); {
		end := pos + 2 + len(it.Key) + len(it.Value)
		if i := t.find(it.Key); i >= 0 && changes[i].start == 0 {
			changes[i] = change{pos, end, Of(it.Element)}
			order = append(order, i)
		}
		pos = end
	}
	return changes, order, it.Err
}

// value returns the new value of the field (or element) that key names.
func (t *target) value(old Value, env *Env, key string) (Value, error) {
	env.path = append(env.path, key)
	v, err := t.changed(old, env)
	env.path = env.path[:len(env.path)-1]
	return v, err
}

func (t *target) changed(old Value, env *Env) (Value, error) {
	switch {
	case t.matched:
		return old, mongoerr.Errorf(mongoerr.BadValue, "The positional operator did not find the match needed from the query.")
	case t.op != nil:
		return t.op.apply(old, env)
	case len(t.elements) > 0:
		return t.allElements(old, env)
	case old.Missing():
		return t.create(env)
	case old.IsDocument():
		doc, err := t.document(make([]byte, 0, len(old.Data)+64), old.Data, env)
		return Value{old.Type, doc}, err
	case old.IsArray():
		array, err := t.array(old, env)
		return Value{old.Type, array}, err
	}
	for _, c := range t.inOrder() {
		if err := c.blocked(old, env); err != nil {
			return Value{}, err
		}
	}
	return old, nil
}

// blocked refuses what operators in t would do below a value that is no document.
func (t *target) blocked(by Value, env *Env) error {
	if err := t.checkArrays(env.path); err != nil {
		return err
	}
	if !t.needsPath(env) {
		return nil
	}
	at, leaf := append(slices.Clip(env.path), t.name), t
	for leaf.op == nil {
		leaf = leaf.inOrder()[0]
		at = append(at, leaf.name)
	}
	switch leaf.op.(type) {
	case pull, pop:
		return mongoerr.Errorf(mongoerr.PathNotViable, "Cannot use the part (%s) of (%s) to traverse the element ({%s: %s})", t.name, dotted(at),
			env.field(), by)
	}
	return mongoerr.Errorf(mongoerr.PathNotViable, "Cannot create field '%s' in element {%s: %s}", t.name, env.field(), by)
}

// checkArrays refuses what would change elements of an array that is not there.
func (t *target) checkArrays(at path) error {
	at = append(slices.Clip(at), t.name)
	if len(t.elements) > 0 {
		return noArray(at)
	}
	for _, c := range t.inOrder() {
		if err := c.checkArrays(at); err != nil {
			return err
		}
	}
	return nil
}

// needsPath reports whether some operator in t fails where its path is blocked by a value that is no document.
func (t *target) needsPath(env *Env) bool {
	if t.op != nil {
		switch op := t.op.(type) {
		case unset, renamed:
			return false
		case setOnInsert:
			return env.Insert
		case rename:
			return !op.source(env).Missing()
		}
		return true
	}
	needs := func(c *target) bool { return c.needsPath(env) }
	return slices.ContainsFunc(t.children, needs) || slices.ContainsFunc(t.elements, needs)
}

// create makes the embedded document for a path that leads nowhere yet, Missing if nothing is to be in it.
func (t *target) create(env *Env) (Value, error) {
	doc, err := t.document(nil, EmptyDocument, env)
	if err != nil || len(doc) == 5 {
		return Value{}, err
	}
	return Document(doc), nil
}

// maxBackfill is how many elements an update may add to an array by naming an index beyond its end.
const maxBackfill = 1500000

func (t *target) array(old Value, env *Env) ([]byte, error) {
	t.inOrder()
	at, dst := wire.BeginDocument(make([]byte, 0, len(old.Data)+64))
	it := wire.Elements(old.Data)
	n := 0
	for ; it.Next(); n++ {
		v := Of(it.Element)
		if i := t.findIndex(it.Key, n); i >= 0 {
			next, err := t.children[i].value(v, env, t.children[i].name)
			if err != nil {
				return nil, err
			}
			v = env.element(next)
		}
		dst = wire.AppendValue(dst, wire.ArrayKey(n), v.Type, v.Data)
	}
	dst, err := t.extend(dst, n, env)
	if err != nil {
		return nil, err
	}
	dst = wire.EndDocument(dst, at)
	for _, c := range t.children {
		if _, ok := indexPadded(c.name); ok {
			continue
		}
		if err := c.blocked(Value{bson.TypeArray, dst}, env); err != nil {
			return nil, err
		}
	}
	return dst, it.Err
}

// element returns what becomes of an array's element. One that is taken away leaves a null, and counts as changed even if it
// was null before.
func (e *Env) element(v Value) Value {
	if v.Missing() {
		v.Type, e.forced = bson.TypeNull, true
	}
	return v
}

// byIndex returns the children in the order of the elements that they stand for.
func (t *target) byIndex() []*target {
	padded := func(c *target) bool { return c.name[0] == '0' }
	if !slices.ContainsFunc(t.children, padded) {
		return t.children
	}
	return slices.SortedStableFunc(slices.Values(t.children), func(a, b *target) int {
		na, _ := indexPadded(a.name)
		nb, _ := indexPadded(b.name)
		return na - nb
	})
}

// extend appends the elements that the update names beyond an array's n, with nulls between.
func (t *target) extend(dst []byte, n int, env *Env) ([]byte, error) {
	for _, c := range t.byIndex() {
		at, ok := indexPadded(c.name)
		if !ok || at < n {
			continue
		}
		v, err := c.value(Value{}, env, c.name)
		if err != nil {
			return nil, err
		}
		if v.Missing() {
			continue
		}
		if at-n > maxBackfill {
			return nil, mongoerr.Errorf(mongoerr.CannotBackfillArray, "can't backfill more than %d elements", maxBackfill)
		}
		for ; n < at; n++ {
			dst = wire.AppendValue(dst, wire.ArrayKey(n), bson.TypeNull, nil)
		}
		dst = wire.AppendValue(dst, wire.ArrayKey(n), v.Type, v.Data)
		n++
	}
	return dst, nil
}
