package query

import (
	"bytes"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// MaxDocumentSize is the largest document that can be stored, in bytes.
const MaxDocumentSize = 16 << 20

// Update is a compiled update: operators, or a whole document that replaces the old one.
type Update struct {
	root        *target
	renames     []rename
	replacement []byte
}

// Env is what an update's application depends on besides the document.
type Env struct {
	Now    time.Time // for $currentDate
	Insert bool      // the document is being inserted by an upsert

	original []byte
}

// ParseUpdate compiles the value of an update's "u". It keeps parts of it.
func ParseUpdate(v Value) (*Update, error) {
	switch {
	case v.IsArray():
		return nil, unsupported("an update with", "an aggregation pipeline")
	case !v.IsDocument():
		return nil, fail(FailedToParse, "Update argument must be either an object or an array")
	}
	it := wire.Elements(v.Data)
	if !it.Next() || len(it.Key) == 0 || it.Key[0] != '$' {
		return parseReplacement(v.Data)
	}
	return parseOperators(v.Data)
}

func parseReplacement(doc []byte) (*Update, error) {
	it := wire.Elements(doc)
	for it.Next() {
		if len(it.Key) > 0 && it.Key[0] == '$' {
			return nil, fail(DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not allowed in the "+
				"context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
				it.Key, it.Key)
		}
	}
	return &Update{replacement: doc}, it.Err
}

// IsReplacement tells whether the update is a whole document.
func (u *Update) IsReplacement() bool { return u.replacement != nil }

func parseOperators(doc []byte) (*Update, error) {
	u := &Update{root: &target{}}
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		parse, ok := operators[name]
		if !ok {
			return nil, unknownModifier(name)
		}
		if it.Type != bson.TypeEmbeddedDocument {
			return nil, fail(FailedToParse, "Modifiers operate on fields but we found type %s instead. For example: "+
				"{$mod: {<field>: ...}} not {%s: %s}", TypeName(it.Type), name, Of(it.Element))
		}
		fields := wire.Elements(it.Value)
		for fields.Next() {
			if err := u.addField(parse, string(fields.Key), Of(fields.Element)); err != nil {
				return nil, err
			}
		}
	}
	return u, it.Err
}

func unknownModifier(name string) error {
	if name == "$bit" {
		return unsupported("the update operator", name)
	}
	return fail(FailedToParse, "Unknown modifier: %s. Expected a valid update modifier or pipeline-style update specified "+
		"as an array", name)
}

func (u *Update) addField(parse parser, field string, v Value) error {
	op, err := parse(field, v)
	if err != nil {
		return err
	}
	if r, ok := op.(rename); ok {
		u.renames = append(u.renames, r)
		if err := u.root.add(r.from, renamed{}); err != nil {
			return err
		}
		return u.root.add(r.to, op)
	}
	return u.root.add(field, op)
}

// Apply returns the document after the update, which shares nothing with doc that may change; the document itself, if
// the update changes nothing.
func (u *Update) Apply(doc []byte, env Env) ([]byte, error) {
	next, err := u.apply(doc, env)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(next, doc):
		return doc, nil
	case len(next) > MaxDocumentSize:
		return nil, fail(17419, "Resulting document after update is larger than %d", MaxDocumentSize)
	}
	return next, u.checkID(doc, next)
}

func (u *Update) apply(doc []byte, env Env) ([]byte, error) {
	if u.replacement != nil {
		return withID(Lookup(doc, "_id"), u.replacement), nil
	}
	env.original = doc
	for _, r := range u.renames {
		if err := r.check(&env); err != nil {
			return nil, err
		}
	}
	return u.root.document(make([]byte, 0, len(doc)+128), doc, &env)
}

func (u *Update) checkID(before, after []byte) error {
	old, now := Lookup(before, "_id"), Lookup(after, "_id")
	switch {
	case old.Missing() || (old.Type == now.Type && bytes.Equal(old.Data, now.Data)):
		return nil
	case u.replacement != nil:
		return fail(ImmutableField, "After applying the update, the (immutable) field '_id' was found to have been altered "+
			"to _id: %s", now)
	}
	return fail(ImmutableField, "Performing an update on the path '_id' would modify the immutable field '_id'")
}

// withID returns doc with the given _id as its first field, unless it has one of its own or id is Missing.
func withID(id Value, doc []byte) []byte {
	own := Lookup(doc, "_id")
	if own.Missing() {
		own = id
	}
	return FrontID(own, doc)
}

// FrontID returns a copy of doc whose first field is _id with the given value, or just a copy if it is Missing.
func FrontID(id Value, doc []byte) []byte {
	at, dst := wire.BeginDocument(make([]byte, 0, len(doc)+len(id.Data)+5))
	if !id.Missing() {
		dst = wire.AppendValue(dst, "_id", id.Type, id.Data)
	}
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) != "_id" {
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// Upsert returns the document that an upsert inserts when the filter matches nothing. Its _id is Missing if neither the
// filter nor the update names one.
func (u *Update) Upsert(f *Filter, env Env) ([]byte, error) {
	env.Insert = true
	base, err := f.seed(u.replacement != nil)
	if err != nil {
		return nil, err
	}
	next, err := u.apply(base, env)
	if err != nil {
		return nil, err
	}
	if len(next) > MaxDocumentSize {
		return nil, fail(17420, "Document to upsert is larger than %d", MaxDocumentSize)
	}
	return FrontID(Lookup(next, "_id"), next), u.checkID(base, next)
}

// seed returns the document that the filter's equalities describe, only the _id with idOnly.
func (f *Filter) seed(idOnly bool) ([]byte, error) {
	root := &target{}
	if f.only {
		return FrontID(f.id, []byte{5, 0, 0, 0, 0}), nil
	}
	if err := seedNodes(root, f.all, idOnly); err != nil {
		return nil, err
	}
	return root.document(nil, []byte{5, 0, 0, 0, 0}, &Env{Insert: true})
}

func seedNodes(root *target, nodes []node, idOnly bool) error {
	for _, n := range nodes {
		if err := seedNode(root, n, idOnly); err != nil {
			return err
		}
	}
	return nil
}

func seedNode(root *target, n node, idOnly bool) error {
	switch n := n.(type) {
	case andNode:
		for _, part := range n {
			if err := seedNodes(root, part, idOnly); err != nil {
				return err
			}
		}
	case orNode:
		if len(n) == 1 {
			return seedNodes(root, n[0], idOnly)
		}
	case *pathNode:
		if idOnly && n.path[0] != "_id" {
			return nil
		}
		for _, c := range n.conditions {
			if e, ok := c.(*equality); ok {
				if err := root.addPath(n.path, set(e.value)); err != nil {
					return fail(54, "cannot infer query fields to set, path '%s' is matched twice", dotted(n.path))
				}
			}
		}
	}
	return nil
}
