package query

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// check refuses a document that may not replace another.
func (u *Update) check(before, after []byte) error {
	if err := u.checkDollars(before, after); err != nil {
		return err
	}
	if err := checkReference(before, after); err != nil && u.pipeline == nil {
		return err
	}
	if err := u.checkID(before, after); err != nil {
		return err
	}
	return checkSize(after, u.deep, "Resulting document after update is larger than %d")
}

// checkInsert refuses a document that may not be inserted by an upsert of what the filter says.
func (u *Update) checkInsert(base, doc []byte) error {
	if err := u.checkID(base, doc); err != nil {
		return err
	}
	if err := checkIDNames(EmptyDocument, doc); err != nil {
		return err
	}
	return checkSize(doc, true, "Document to upsert is larger than %d")
}

func checkSize(doc []byte, deep bool, tooLarge string) error {
	switch {
	case len(doc) > MaxDocumentSize:
		return mongoerr.Errorf(mongoerr.BSONObjectTooLarge, tooLarge, MaxDocumentSize)
	case deep && Nesting(doc, MaxStoredNesting+1) > MaxStoredNesting:
		return mongoerr.Errorf(mongoerr.Overflow, "Document exceeds maximum nesting depth of %d", MaxStoredNesting)
	}
	return nil
}

func (u *Update) checkID(before, after []byte) error {
	old, now := Lookup(before, "_id"), Lookup(after, "_id")
	switch {
	case old.Missing() || (old.Type == now.Type && bytes.Equal(old.Data, now.Data)):
		return nil
	case u.root == nil && Equal(old, now):
		return nil // another type of number is no other _id
	case u.root == nil && (now.IsArray() || now.Type == bson.TypeRegex || now.Type == bson.TypeUndefined):
		return mongoerr.Errorf(mongoerr.InvalidIDField, "The '_id' value cannot be of type %s", TypeName(now.Type))
	case u.root == nil:
		return mongoerr.Errorf(mongoerr.ImmutableField, "After applying the update, the (immutable) field '_id' was found to have been altered "+
			"to _id: %s", now)
	}
	return u.changedID(old, now)
}

// changedID names the path by which the update would change the _id.
func (u *Update) changedID(old, now Value) error {
	at := path{"_id"}
	leaf := u.root.children[u.root.find([]byte("_id"))].changedLeaf(at, old, now)
	if leaf == nil {
		return mongoerr.Errorf(mongoerr.ImmutableField, "Updating the path '_id' to _id: %s would modify the immutable field '_id'", now)
	}
	return mongoerr.Errorf(mongoerr.ImmutableField, "Performing an update on the path '%s' would modify the immutable field '_id'", dotted(leaf))
}

// changedLeaf returns the path of the first operator that changes a value that was there.
func (t *target) changedLeaf(at path, old, now Value) path {
	if old.Missing() {
		return nil
	}
	if t.op != nil {
		if old.Type == now.Type && bytes.Equal(old.Data, now.Data) {
			return nil
		}
		return at
	}
	for _, c := range t.inOrder() {
		if leaf := c.changedLeaf(append(slices.Clip(at), c.name), old.lookup(c.name), now.lookup(c.name)); leaf != nil {
			return leaf
		}
	}
	return nil
}

// checkDollars refuses new fields whose names begin with a dollar where they may not: in the document, unless a pipeline
// made it, and in its _id.
func (u *Update) checkDollars(before, after []byte) error {
	if u.pipeline == nil {
		kept := before
		if u.replacement != nil {
			kept = EmptyDocument
		}
		if err := checkNames("", kept, after); err != nil {
			return err
		}
	}
	return checkIDNames(before, after)
}

func checkIDNames(before, after []byte) error {
	id := Lookup(after, "_id")
	if !id.IsDocument() {
		return nil
	}
	was := Lookup(before, "_id")
	if !was.IsDocument() {
		was.Data = EmptyDocument
	}
	return checkNames("_id.", was.Data, id.Data)
}

func checkNames(prefix string, before, after []byte) error {
	it := wire.Elements(after)
	for it.Next() {
		if len(it.Key) == 0 || it.Key[0] != '$' || IsReferenceField(string(it.Key)) {
			continue
		}
		if was := Lookup(before, string(it.Key)); was.Type == it.Type && bytes.Equal(was.Data, it.Value) {
			continue
		}
		return mongoerr.Errorf(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s%s' is not allowed in the context of "+
			"an update's replacement document. Consider using an aggregation pipeline with $replaceWith.", it.Key, prefix, it.Key)
	}
	return it.Err
}

// checkReference refuses to make a document half a DBRef, or one with other types.
func checkReference(before, after []byte) error {
	var fields []wire.Element
	it := wire.Elements(after)
	for it.Next() {
		fields = append(fields, it.Element)
	}
	for i, f := range fields {
		was := Lookup(before, string(f.Key))
		if IsReferenceField(string(f.Key)) && (was.Type != f.Type || !bytes.Equal(was.Data, f.Value)) {
			if err := referenceField(fields, i); err != nil {
				return err
			}
		}
	}
	return it.Err
}

// referenceField checks a field of a DBRef, and those that must be before it.
func referenceField(fields []wire.Element, i int) error {
	name, needs := string(fields[i].Key), map[string]string{"$id": "$ref", "$db": "$id"}
	switch before := needs[name]; {
	case name != "$id" && fields[i].Type != bson.TypeString:
		return mongoerr.Errorf(mongoerr.InvalidDBRef, "The DBRef %s field must be a String, not a %s", name, TypeName(fields[i].Type))
	case name == "$ref" && (i+1 == len(fields) || string(fields[i+1].Key) != "$id"):
		return mongoerr.Errorf(mongoerr.InvalidDBRef, "The DBRef $ref field must be followed by a $id field")
	case name == "$ref":
		return nil
	case i == 0 || string(fields[i-1].Key) != before:
		return mongoerr.Errorf(mongoerr.InvalidDBRef, "Found %s field without a %s before it, which is invalid.", name, before)
	}
	return referenceField(fields, i-1)
}
