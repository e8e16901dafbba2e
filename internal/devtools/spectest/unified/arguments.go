package unified

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// refusal is a failure of the runner's own: something that it does not support, or a file that is wrong. It is never taken for
// an error of the client.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(format string, args ...any) error { return &refusal{fmt.Errorf(format, args...)} }

// NotSupported is the failure of a case that needs something that the client does not have yet. It is never taken for an error
// that the case expects.
type NotSupported struct {
	Name string // of the missing method or option
	Err  error  // as the client, or its file of aliases, returned it
}

func (n *NotSupported) Error() string { return n.Err.Error() }
func (n *NotSupported) Unwrap() error { return n.Err }

// ifMissing returns NotSupported around an error that says that the client lacks something, and every other error as it is.
func ifMissing(err error) error {
	if name := mongoMissing(err); name != "" {
		return &NotSupported{name, err}
	}
	return err
}

// arguments are those of one operation. Each function takes those it knows and gives the rest to an options builder; the first
// thing that is wrong with one is what rest returns.
type arguments struct {
	run  *run
	left []bson.RawElement
	err  error
}

func newArguments(r *run, doc bson.Raw) (*arguments, error) {
	a := &arguments{run: r}
	if doc == nil {
		return a, nil
	}
	elements, err := doc.Elements()
	if err != nil {
		return nil, &refusal{err}
	}
	a.left = slices.Clone(elements)
	return a, nil
}

func (a *arguments) fail(format string, args ...any) {
	if a.err == nil {
		a.err = refuse(format, args...)
	}
}

// optional takes an argument; its type is zero if it is not given.
func (a *arguments) optional(name string) bson.RawValue {
	for i, e := range a.left {
		if e.Key() == name {
			a.left = slices.Delete(a.left, i, i+1)
			return e.Value()
		}
	}
	return bson.RawValue{}
}

func (a *arguments) value(name string) bson.RawValue {
	v := a.optional(name)
	if v.Type == 0 {
		a.fail("the argument %s is missing", name)
	}
	return v
}

// native takes an argument that the client is to encode.
func (a *arguments) native(name string) any {
	v := a.value(name)
	if v.Type == 0 {
		return nil
	}
	n, err := native(v)
	if err != nil {
		a.fail("%s: %w", name, err)
	}
	return n
}

func (a *arguments) document(name string) bson.Raw {
	v := a.value(name)
	doc, ok := v.DocumentOK()
	if !ok {
		a.fail("the argument %s is not a document: %v", name, v)
	}
	return doc
}

func (a *arguments) text(name string) string {
	v := a.value(name)
	text, ok := v.StringValueOK()
	if !ok {
		a.fail("the argument %s is not a string: %v", name, v)
	}
	return text
}

func (a *arguments) number(name string) int64 {
	v := a.value(name)
	n, ok := wholeNumber(v)
	if !ok {
		a.fail("the argument %s is not a whole number: %v", name, v)
	}
	return n
}

func (a *arguments) array(name string) []bson.RawValue {
	v := a.value(name)
	array, ok := v.ArrayOK()
	if !ok {
		a.fail("the argument %s is not an array: %v", name, v)
		return nil
	}
	values, err := array.Values()
	if err != nil {
		a.fail("%s: %w", name, err)
	}
	return values
}

func (a *arguments) documents(name string) []bson.Raw {
	var docs []bson.Raw
	for _, v := range a.array(name) {
		doc, ok := v.DocumentOK()
		if !ok {
			a.fail("the argument %s has an element that is not a document: %v", name, v)
		}
		docs = append(docs, doc)
	}
	return docs
}

// taken returns an entity that an argument names.
func taken[E any](a *arguments, name string) E {
	v := a.value(name)
	e, err := entity[E](a.run.entities, v)
	if err != nil {
		a.fail("%s: %w", name, err)
	}
	return e
}

// rest gives the arguments that are left to a builder of the client's options, by name; nil takes none.
func (a *arguments) rest(builder any) error {
	for _, e := range a.left {
		if a.err != nil {
			break
		}
		if builder == nil {
			a.fail("the argument %s is not supported by this runner", e.Key())
		} else if err := a.run.runner.set(builder, e.Key(), e.Value()); err != nil {
			a.fail("the argument %s: %w", e.Key(), err)
		}
	}
	a.left = nil
	return a.err
}
