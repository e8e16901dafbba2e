package query

import (
	"sort"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
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
	children []*target // in the order in which new fields are created
	byName   map[string]int
}

// many is from how many children on a map is faster than comparing.
const many = 8

func (t *target) add(field string, op operator) error {
	if field == "" {
		return fail(EmptyFieldName, "An empty update path is not valid.")
	}
	p := splitPath(field)
	for _, name := range p {
		switch {
		case name == "":
			return fail(EmptyFieldName, "The update path '%s' contains an empty field name, which is not allowed.", field)
		case name == "$" || strings.HasPrefix(name, "$["):
			return unsupported("the positional update path", field)
		case name[0] == '$':
			return fail(DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not valid for storage.",
				name, field)
		}
	}
	return t.addPath(p, op)
}

func (t *target) addPath(p path, op operator) error {
	at := t
	for i, name := range p {
		if at.op != nil {
			return conflict(p, p[:i])
		}
		at = at.child(name)
	}
	if at.op != nil || len(at.children) > 0 {
		return conflict(p, p)
	}
	at.op = op
	return nil
}

func conflict(p, at path) error {
	return fail(ConflictingUpdateOperators, "Updating the path '%s' would create a conflict at '%s'", dotted(p), dotted(at))
}

func dotted(p path) string { return strings.Join(p, ".") }

// child returns the child of that name, made in its place if it is new.
func (t *target) child(name string) *target {
	at := sort.Search(len(t.children), func(i int) bool { return !before(t.children[i].name, name) })
	if at < len(t.children) && t.children[at].name == name {
		return t.children[at]
	}
	c := &target{name: name}
	t.children = append(t.children, nil)
	copy(t.children[at+1:], t.children[at:])
	t.children[at] = c
	t.byName = nil
	if len(t.children) > many {
		t.byName = make(map[string]int, len(t.children))
		for i, c := range t.children {
			t.byName[c.name] = i
		}
	}
	return c
}

// before orders names as an update creates them: numbers by value and before others, those by their bytes.
func before(a, b string) bool {
	na, oka := index(a)
	nb, okb := index(b)
	switch {
	case oka && okb:
		return na < nb
	case oka != okb:
		return oka
	}
	return a < b
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

// document appends doc with the changes below t.
func (t *target) document(dst, doc []byte, env *Env) ([]byte, error) {
	at, dst := wire.BeginDocument(dst)
	done := make([]bool, len(t.children))
	copied, pos := 4, 4
	it := wire.Elements(doc)
	for it.Next() {
		end := pos + 2 + len(it.Key) + len(it.Value)
		if i := t.find(it.Key); i >= 0 && !done[i] {
			done[i] = true
			dst = append(dst, doc[copied:pos]...)
			copied = end
			v, err := t.children[i].value(Of(it.Element), env, it.Key)
			if err != nil {
				return nil, err
			}
			if !v.Missing() {
				dst = wire.AppendValue(dst, t.children[i].name, v.Type, v.Data)
			}
		}
		pos = end
	}
	dst = append(dst, doc[copied:pos]...)
	for i, c := range t.children {
		if done[i] {
			continue
		}
		v, err := c.value(Value{}, env, nil)
		if err != nil {
			return nil, err
		}
		if !v.Missing() {
			dst = wire.AppendValue(dst, c.name, v.Type, v.Data)
		}
	}
	return wire.EndDocument(dst, at), it.Err
}

// value returns the field's new value.
func (t *target) value(old Value, env *Env, key []byte) (Value, error) {
	switch {
	case t.op != nil:
		return t.op.apply(old, env)
	case old.Missing():
		return t.create(env)
	case old.IsDocument():
		doc, err := t.document(make([]byte, 0, len(old.Data)+64), old.Data, env)
		return Value{old.Type, doc}, err
	case old.IsArray():
		array, err := t.array(old, env, key)
		return Value{old.Type, array}, err
	}
	for _, c := range t.children {
		if c.needsPath(env) {
			return Value{}, fail(PathNotViable, "Cannot create field '%s' in element {%s: %s}", c.name, key, old)
		}
	}
	return old, nil
}

// needsPath tells whether some operator in t fails where its path is blocked by a value that is no document.
func (t *target) needsPath(env *Env) bool {
	if t.op != nil {
		switch op := t.op.(type) {
		case unset:
			return false
		case setOnInsert:
			return env.Insert
		case rename:
			return !op.source(env).Missing()
		}
		return true
	}
	for _, c := range t.children {
		if c.needsPath(env) {
			return true
		}
	}
	return false
}

// create makes the embedded document for a path that leads nowhere yet, Missing if nothing is to be in it.
func (t *target) create(env *Env) (Value, error) {
	doc, err := t.document(nil, []byte{5, 0, 0, 0, 0}, env)
	if err != nil || len(doc) == 5 {
		return Value{}, err
	}
	return Value{bson.TypeEmbeddedDocument, doc}, nil
}

// maxBackfill is how many elements an update may add to an array by naming an index beyond its end.
const maxBackfill = 1500000

func (t *target) array(old Value, env *Env, key []byte) ([]byte, error) {
	for _, c := range t.children {
		if _, ok := index(c.name); !ok && c.needsPath(env) {
			return nil, fail(PathNotViable, "Cannot create field '%s' in element {%s: %s}", c.name, key, old)
		}
	}
	at, dst := wire.BeginDocument(make([]byte, 0, len(old.Data)+64))
	it := wire.Elements(old.Data)
	n := 0
	for ; it.Next(); n++ {
		v := Of(it.Element)
		if i := t.find(it.Key); i >= 0 {
			next, err := t.children[i].value(v, env, it.Key)
			if err != nil {
				return nil, err
			}
			if v = next; v.Missing() {
				v.Type = bson.TypeNull
			}
		}
		dst = wire.AppendValue(dst, wire.ArrayKey(n), v.Type, v.Data)
	}
	dst, err := t.extend(dst, n, env)
	if err != nil {
		return nil, err
	}
	return wire.EndDocument(dst, at), it.Err
}

// extend appends the elements that the update names beyond an array's n, with nulls between.
func (t *target) extend(dst []byte, n int, env *Env) ([]byte, error) {
	for _, c := range t.children {
		at, ok := index(c.name)
		if !ok || at < n {
			continue
		}
		v, err := c.value(Value{}, env, nil)
		if err != nil {
			return nil, err
		}
		if v.Missing() {
			continue
		}
		if at-n > maxBackfill {
			return nil, fail(BadValue, "Cannot backfill array to larger than %d elements", maxBackfill)
		}
		for ; n < at; n++ {
			dst = wire.AppendValue(dst, wire.ArrayKey(n), bson.TypeNull, nil)
		}
		dst = wire.AppendValue(dst, wire.ArrayKey(n), v.Type, v.Data)
		n++
	}
	return dst, nil
}
