package couchbase

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// structure is a document that is used as a list, a map, a queue or a set. Operations have the cluster's timeouts and strategy.
type structure struct {
	collection *Collection
	id         string
}

// casTries is how often a change is made that needs the document to be as it was read.
const casTries = 16

var upsertStructure = &MutateInOptions{StoreSemantic: StoreSemanticsUpsert}

// change makes the document, if there is none, and changes it.
func (s structure) change(spec MutateInSpec) error {
	_, err := s.collection.MutateIn(s.id, []MutateInSpec{spec}, upsertStructure)
	return err
}

// lookUp reads a part of the document.
func (s structure) lookUp(spec LookupInSpec, valuePtr any) (Cas, error) {
	result, err := s.collection.LookupIn(s.id, []LookupInSpec{spec}, nil)
	if err != nil {
		return 0, err
	}
	return result.Cas(), result.ContentAt(0, valuePtr)
}

// size returns the number of elements.
func (s structure) size() (int, error) {
	var n int
	_, err := s.lookUp(CountSpec("", nil), &n)
	return n, err
}

// clear removes the document.
func (s structure) clear() error {
	_, err := s.collection.Remove(s.id, nil)
	return err
}

// read reads the whole document.
func (s structure) read(valuePtr any) (Cas, error) {
	result, err := s.collection.Get(s.id, &GetOptions{Transcoder: NewJSONTranscoder()})
	if err != nil {
		return 0, err
	}
	return result.Cas(), result.Content(valuePtr)
}

// elements returns the elements of an array.
func (s structure) elements() (all []any, err error) {
	_, err = s.read(&all)
	return all, err
}

// indexOf returns the index of the first element that is val, as JSON, or -1.
func indexOf(elements []json.RawMessage, val any) (int, error) {
	wanted, err := canonicalJSON(val)
	if err != nil {
		return -1, err
	}
	for i, e := range elements {
		if found, err := canonicalJSON(e); err == nil && bytes.Equal(found, wanted) {
			return i, nil
		}
	}
	return -1, nil
}

// canonicalJSON returns a value as JSON with sorted fields and without spaces.
func canonicalJSON(value any) ([]byte, error) {
	b, _, err := encodeJSON(value)
	if err != nil {
		return nil, err
	}
	var decoded any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&decoded); err != nil {
		return nil, err
	}
	return json.Marshal(decoded)
}

// CouchbaseList is a document that is a list. It is safe for concurrent use.
type CouchbaseList struct{ structure }

// List returns the document as a list. Append and Prepend make it if it does not exist.
func (c *Collection) List(id string) *CouchbaseList { return &CouchbaseList{structure{c, id}} }

// Iterator returns all elements.
func (cl *CouchbaseList) Iterator() ([]any, error) { return cl.elements() }

// At reads the element at an index.
func (cl *CouchbaseList) At(index int, valuePtr any) error {
	_, err := cl.lookUp(GetSpec(fmt.Sprintf("[%d]", index), nil), valuePtr)
	return err
}

// RemoveAt removes the element at an index.
func (cl *CouchbaseList) RemoveAt(index int) error {
	_, err := cl.collection.MutateIn(cl.id, []MutateInSpec{RemoveSpec(fmt.Sprintf("[%d]", index), nil)}, nil)
	return err
}

// Append adds an element after the others.
func (cl *CouchbaseList) Append(val any) error { return cl.change(ArrayAppendSpec("", val, nil)) }

// Prepend adds an element before the others.
func (cl *CouchbaseList) Prepend(val any) error { return cl.change(ArrayPrependSpec("", val, nil)) }

// IndexOf returns the index of the first element that is val, as JSON, or -1 if there is none.
func (cl *CouchbaseList) IndexOf(val any) (int, error) {
	var elements []json.RawMessage
	if _, err := cl.read(&elements); err != nil {
		return -1, err
	}
	return indexOf(elements, val)
}

// Size returns the number of elements.
func (cl *CouchbaseList) Size() (int, error) { return cl.size() }

// Clear removes the document.
func (cl *CouchbaseList) Clear() error { return cl.clear() }

// CouchbaseMap is a document that is a map. Its ids are sub-document paths. It is safe for concurrent use.
type CouchbaseMap struct{ structure }

// Map returns the document as a map. Add makes it if it does not exist.
func (c *Collection) Map(id string) *CouchbaseMap { return &CouchbaseMap{structure{c, id}} }

// Iterator returns all fields.
func (cl *CouchbaseMap) Iterator() (map[string]any, error) {
	var all map[string]any
	_, err := cl.read(&all)
	return all, err
}

// At reads a field.
func (cl *CouchbaseMap) At(id string, valuePtr any) error {
	if err := notEmpty("id", id); err != nil {
		return err
	}
	_, err := cl.lookUp(GetSpec(id, nil), valuePtr)
	return err
}

// Add sets a field.
func (cl *CouchbaseMap) Add(id string, val any) error { return cl.change(UpsertSpec(id, val, nil)) }

// Remove removes a field.
func (cl *CouchbaseMap) Remove(id string) error {
	if err := notEmpty("id", id); err != nil {
		return err
	}
	_, err := cl.collection.MutateIn(cl.id, []MutateInSpec{RemoveSpec(id, nil)}, nil)
	return err
}

// Exists reports whether there is a field.
func (cl *CouchbaseMap) Exists(id string) (bool, error) {
	var exists bool
	_, err := cl.lookUp(ExistsSpec(id, nil), &exists)
	return exists, err
}

// Size returns the number of fields.
func (cl *CouchbaseMap) Size() (int, error) { return cl.size() }

// Keys returns the names of the fields, sorted.
func (cl *CouchbaseMap) Keys() ([]string, error) {
	all, err := cl.Iterator()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// Values returns the values of the fields, in the order of Keys.
func (cl *CouchbaseMap) Values() ([]any, error) {
	all, err := cl.Iterator()
	if err != nil {
		return nil, err
	}
	values := make([]any, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		values = append(values, all[key])
	}
	return values, nil
}

// Clear removes the document.
func (cl *CouchbaseMap) Clear() error { return cl.clear() }

// CouchbaseSet is a document that is a set of JSON values without objects and arrays. It is safe for concurrent use.
type CouchbaseSet struct{ structure }

// Set returns the document as a set. Add makes it if it does not exist.
func (c *Collection) Set(id string) *CouchbaseSet { return &CouchbaseSet{structure{c, id}} }

// Iterator returns all elements.
func (cs *CouchbaseSet) Iterator() ([]any, error) { return cs.elements() }

// Add adds an element. It fails with [ErrPathExists] if it is there already.
func (cs *CouchbaseSet) Add(val any) error { return cs.change(ArrayAddUniqueSpec("", val, nil)) }

// Remove removes an element. It is no error if there is none.
func (cs *CouchbaseSet) Remove(val string) error {
	var err error
	for range casTries {
		var elements []json.RawMessage
		var cas Cas
		if cas, err = cs.read(&elements); err != nil {
			return err
		}
		index, indexErr := indexOf(elements, val)
		if indexErr != nil || index < 0 {
			return indexErr
		}
		_, err = cs.collection.MutateIn(cs.id, []MutateInSpec{RemoveSpec(fmt.Sprintf("[%d]", index), nil)}, &MutateInOptions{Cas: cas})
		if !errors.Is(err, ErrCasMismatch) {
			return err
		}
	}
	return err
}

// Values returns all elements.
func (cs *CouchbaseSet) Values() ([]any, error) { return cs.elements() }

// Contains reports whether there is an element.
func (cs *CouchbaseSet) Contains(val string) (bool, error) {
	var elements []json.RawMessage
	if _, err := cs.read(&elements); err != nil {
		return false, err
	}
	index, err := indexOf(elements, val)
	return index >= 0, err
}

// Size returns the number of elements.
func (cs *CouchbaseSet) Size() (int, error) { return cs.size() }

// Clear removes the document.
func (cs *CouchbaseSet) Clear() error { return cs.clear() }

// CouchbaseQueue is a document that is a queue. It is safe for concurrent use.
type CouchbaseQueue struct{ structure }

// Queue returns the document as a queue. Push makes it if it does not exist.
func (c *Collection) Queue(id string) *CouchbaseQueue { return &CouchbaseQueue{structure{c, id}} }

// Iterator returns all elements, the newest first.
func (cs *CouchbaseQueue) Iterator() ([]any, error) { return cs.elements() }

// Push adds an element.
func (cs *CouchbaseQueue) Push(val any) error { return cs.change(ArrayPrependSpec("", val, nil)) }

// Pop reads the oldest element and removes it. If others change the queue meanwhile, it tries again, at most 16 times. It fails with
// [ErrPathNotFound] if there is none.
func (cs *CouchbaseQueue) Pop(valuePtr any) error {
	var err error
	for range casTries {
		var oldest json.RawMessage
		var cas Cas
		if cas, err = cs.lookUp(GetSpec("[-1]", nil), &oldest); err != nil {
			return err
		}
		_, err = cs.collection.MutateIn(cs.id, []MutateInSpec{RemoveSpec("[-1]", nil)}, &MutateInOptions{Cas: cas})
		if err == nil {
			return decodeJSON(oldest, valuePtr)
		}
		if !errors.Is(err, ErrCasMismatch) {
			return err
		}
	}
	return err
}

// Size returns the number of elements.
func (cs *CouchbaseQueue) Size() (int, error) { return cs.size() }

// Clear removes the document.
func (cs *CouchbaseQueue) Clear() error { return cs.clear() }
