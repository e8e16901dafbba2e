package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

const nullType = bson.TypeNull

// Projection is a compiled projection: fields to keep, or fields to leave out.
type Projection struct {
	exclude bool
	root    *target // leaves carry keep
	keepID  bool
}

// keep marks a leaf of a projection.
type keep struct{}

func (keep) apply(old Value, _ *Env) (Value, error) { return old, nil }

// ParseProjection compiles a projection; nil without error if it is empty.
func ParseProjection(doc []byte) (*Projection, error) {
	p := &Projection{root: &target{}, keepID: true}
	mode := 0 // -1 exclusion, 1 inclusion, 0 not yet known
	idOnly, count := false, 0
	if err := p.fields("", doc, &mode, &idOnly, &count); err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, nil
	}
	if mode == 0 { // nothing but the _id was named
		p.exclude = !p.keepID
		return p, nil
	}
	p.exclude = mode < 0
	return p, nil
}

func (p *Projection) fields(prefix string, doc []byte, mode *int, idOnly *bool, count *int) error {
	it := wire.Elements(doc)
	for it.Next() {
		*count++
		if err := p.field(prefix+string(it.Key), Of(it.Element), mode, idOnly, count); err != nil {
			return err
		}
	}
	return it.Err
}

func (p *Projection) field(name string, v Value, mode *int, idOnly *bool, count *int) error {
	switch {
	case v.IsDocument() && !isExpression(v):
		return p.fields(name+".", v.Data, mode, idOnly, count)
	case v.IsDocument():
		return unsupported("the projection", v.String())
	case !v.IsNumber() && v.Type != bson.TypeBoolean:
		return unsupported("the projection of a computed value", name)
	case len(name) > 1 && (name[len(name)-2:] == ".$" || name[0] == '$'):
		return unsupported("the projection", name)
	case name == "_id":
		*idOnly, p.keepID = true, v.True()
		return nil
	}
	sign := -1
	if v.True() {
		sign = 1
	}
	if *mode != 0 && sign != *mode {
		if sign < 0 {
			return fail(31254, "Cannot do exclusion on field %s in inclusion projection", name)
		}
		return fail(31253, "Cannot do inclusion on field %s in exclusion projection", name)
	}
	*mode = sign
	if err := p.root.addPath(splitPath(name), keep{}); err != nil {
		return fail(31250, "Path collision at %s", name)
	}
	return nil
}

// Append writes the projected document behind dst.
func (p *Projection) Append(dst, doc []byte) []byte {
	at, dst := wire.BeginDocument(dst)
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) == "_id" && p.root.find(it.Key) < 0 {
			if p.keepID {
				dst = wire.AppendElement(dst, it.Element)
			}
			continue
		}
		dst = p.element(dst, p.root, it.Element, string(it.Key))
	}
	return wire.EndDocument(dst, at)
}

// element writes one element under key as the tree t, which has its name or not, says.
func (p *Projection) element(dst []byte, t *target, e wire.Element, key string) []byte {
	i := t.find(e.Key)
	if i < 0 {
		if p.exclude {
			return wire.AppendValue(dst, key, e.Type, e.Value)
		}
		return dst
	}
	child := t.children[i]
	if child.op != nil {
		if p.exclude {
			return dst
		}
		return wire.AppendValue(dst, key, e.Type, e.Value)
	}
	return p.nested(dst, child, Of(e), key)
}

// nested writes what the tree leaves of an embedded document or an array of them.
func (p *Projection) nested(dst []byte, t *target, v Value, key string) []byte {
	switch {
	case v.IsDocument():
		at, dst := wire.BeginEmbedded(dst, key)
		it := wire.Elements(v.Data)
		for it.Next() {
			dst = p.element(dst, t, it.Element, string(it.Key))
		}
		return wire.EndDocument(dst, at)
	case v.IsArray():
		at, dst := wire.BeginArray(dst, key)
		n := 0
		for _, e := range v.elements() {
			was := len(dst)
			if dst = p.nested(dst, t, e, wire.ArrayKey(n)); len(dst) > was {
				n++
			}
		}
		return wire.EndDocument(dst, at)
	case p.exclude:
		return wire.AppendValue(dst, key, v.Type, v.Data)
	}
	return dst
}

// AppendElement writes the projected document as an element.
func (p *Projection) AppendElement(dst []byte, key string, doc []byte) []byte {
	dst = append(dst, byte(bson.TypeEmbeddedDocument))
	dst = append(dst, key...)
	return p.Append(append(dst, 0), doc)
}
