package couchbase

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// MutateInSpec is one part of a change within a document.
type MutateInSpec struct {
	op         memd.Opcode
	path       string
	value      any
	createPath bool
	isXattr    bool
	multiple   bool
	noValue    bool
}

// InsertSpecOptions are the options of [InsertSpec].
type InsertSpecOptions struct {
	CreatePath bool // the parents of the path are made
	IsXattr    bool // the path begins in the extended attributes
}

// InsertSpec sets the value at a path at which there must be none.
func InsertSpec(path string, val any, opts *InsertSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &InsertSpecOptions{}
	}
	return MutateInSpec{op: memd.OpSubdocDictAdd, path: path, value: val, createPath: opts.CreatePath, isXattr: opts.IsXattr}
}

// UpsertSpecOptions are the options of [UpsertSpec].
type UpsertSpecOptions struct {
	CreatePath bool // the parents of the path are made
	IsXattr    bool // the path begins in the extended attributes
}

// UpsertSpec sets the value at a path.
func UpsertSpec(path string, val any, opts *UpsertSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &UpsertSpecOptions{}
	}
	return MutateInSpec{op: memd.OpSubdocDictSet, path: path, value: val, createPath: opts.CreatePath, isXattr: opts.IsXattr}
}

// ReplaceSpecOptions are the options of [ReplaceSpec].
type ReplaceSpecOptions struct {
	IsXattr bool // the path begins in the extended attributes
}

// ReplaceSpec sets the value at a path at which there must be one. An empty path sets the whole document.
func ReplaceSpec(path string, val any, opts *ReplaceSpecOptions) MutateInSpec {
	spec := MutateInSpec{op: memd.OpSubdocReplace, path: path, value: val, isXattr: opts != nil && opts.IsXattr}
	if path == "" && !spec.isXattr {
		spec.op = memd.OpSet
	}
	return spec
}

// RemoveSpecOptions are the options of [RemoveSpec].
type RemoveSpecOptions struct {
	IsXattr bool // the path begins in the extended attributes
}

// RemoveSpec removes what is at a path. An empty path removes the whole document.
func RemoveSpec(path string, opts *RemoveSpecOptions) MutateInSpec {
	spec := MutateInSpec{op: memd.OpSubdocDelete, path: path, noValue: true, isXattr: opts != nil && opts.IsXattr}
	if path == "" && !spec.isXattr {
		spec.op = memd.OpDelete
	}
	return spec
}

// ArrayAppendSpecOptions are the options of [ArrayAppendSpec].
type ArrayAppendSpecOptions struct {
	CreatePath  bool // the array, and the parents of the path, are made
	IsXattr     bool // the path begins in the extended attributes
	HasMultiple bool // the value is a slice or an array, and its elements are added
}

// ArrayAppendSpec adds a value after the last element of the array at a path.
func ArrayAppendSpec(path string, val any, opts *ArrayAppendSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &ArrayAppendSpecOptions{}
	}
	return MutateInSpec{
		op: memd.OpSubdocArrayPushLast, path: path, value: val,
		createPath: opts.CreatePath, isXattr: opts.IsXattr, multiple: opts.HasMultiple,
	}
}

// ArrayPrependSpecOptions are the options of [ArrayPrependSpec].
type ArrayPrependSpecOptions struct {
	CreatePath  bool // the array, and the parents of the path, are made
	IsXattr     bool // the path begins in the extended attributes
	HasMultiple bool // the value is a slice or an array, and its elements are added
}

// ArrayPrependSpec adds a value before the first element of the array at a path.
func ArrayPrependSpec(path string, val any, opts *ArrayPrependSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &ArrayPrependSpecOptions{}
	}
	return MutateInSpec{
		op: memd.OpSubdocArrayPushFirst, path: path, value: val,
		createPath: opts.CreatePath, isXattr: opts.IsXattr, multiple: opts.HasMultiple,
	}
}

// ArrayInsertSpecOptions are the options of [ArrayInsertSpec].
type ArrayInsertSpecOptions struct {
	CreatePath  bool // sent to the server, which refuses it for this operation
	IsXattr     bool // the path begins in the extended attributes
	HasMultiple bool // the value is a slice or an array, and its elements are added
}

// ArrayInsertSpec adds a value before the element at a path, which ends with the element's index.
func ArrayInsertSpec(path string, val any, opts *ArrayInsertSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &ArrayInsertSpecOptions{}
	}
	return MutateInSpec{
		op: memd.OpSubdocArrayInsert, path: path, value: val,
		createPath: opts.CreatePath, isXattr: opts.IsXattr, multiple: opts.HasMultiple,
	}
}

// ArrayAddUniqueSpecOptions are the options of [ArrayAddUniqueSpec].
type ArrayAddUniqueSpecOptions struct {
	CreatePath bool // the array, and the parents of the path, are made
	IsXattr    bool // the path begins in the extended attributes
}

// ArrayAddUniqueSpec adds a value to the array at a path that must not have it.
func ArrayAddUniqueSpec(path string, val any, opts *ArrayAddUniqueSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &ArrayAddUniqueSpecOptions{}
	}
	return MutateInSpec{op: memd.OpSubdocArrayAddUnique, path: path, value: val, createPath: opts.CreatePath, isXattr: opts.IsXattr}
}

// CounterSpecOptions are the options of [IncrementSpec] and [DecrementSpec].
type CounterSpecOptions struct {
	CreatePath bool // the parents of the path are made
	IsXattr    bool // the path begins in the extended attributes
}

// IncrementSpec adds delta to the number at a path. If there is none, it becomes delta.
func IncrementSpec(path string, delta int64, opts *CounterSpecOptions) MutateInSpec {
	if opts == nil {
		opts = &CounterSpecOptions{}
	}
	return MutateInSpec{op: memd.OpSubdocCounter, path: path, value: delta, createPath: opts.CreatePath, isXattr: opts.IsXattr}
}

// DecrementSpec subtracts delta from the number at a path. If there is none, it becomes -delta.
func DecrementSpec(path string, delta int64, opts *CounterSpecOptions) MutateInSpec {
	return IncrementSpec(path, -delta, opts)
}

// encodeMutation returns the value of a change, and for each of its parts the place in the caller's list. Extended attributes
// stand first, as servers ask.
func encodeMutation(ops []MutateInSpec) (value []byte, order []int, err error) {
	if err := checkSpecs(len(ops)); err != nil {
		return nil, nil, err
	}
	specs := make([]memd.Spec, len(ops))
	for i, op := range ops {
		if specs[i], err = op.encode(fmt.Sprintf("ops[%d]", i)); err != nil {
			return nil, nil, err
		}
	}
	order = attributesFirst(len(ops), func(i int) bool { return specs[i].Flags&memd.SpecXattr != 0 })
	for _, i := range order {
		value = memd.AppendMutation(value, specs[i])
	}
	return value, order, nil
}

// encode returns one part as the server takes it.
func (s MutateInSpec) encode(field string) (memd.Spec, error) {
	if s.path == "" && (s.op == memd.OpSubdocDictAdd || s.op == memd.OpSubdocDictSet) {
		return memd.Spec{}, invalid("the path of %s must not be empty: only ReplaceSpec and RemoveSpec can mean the whole document", field)
	}
	if err := checkPath(field, s.path); err != nil {
		return memd.Spec{}, err
	}
	spec := memd.Spec{Op: s.op, Flags: xattrFlag(s.isXattr), Path: []byte(s.path)}
	if s.createPath {
		spec.Flags |= memd.SpecCreatePath
	}
	if s.noValue {
		return spec, nil
	}
	if macro, ok := s.value.(MutationMacro); ok {
		spec.Flags |= memd.SpecExpandMacros | memd.SpecXattr
		spec.Value = []byte(macro)
		return spec, nil
	}
	b, _, err := encodeJSON(s.value)
	if err != nil {
		return memd.Spec{}, fmt.Errorf("couchbase: the value of %s: %w", field, err)
	}
	if s.multiple {
		if b, err = elements(field, b); err != nil {
			return memd.Spec{}, err
		}
	}
	spec.Value = b
	return spec, checkValue("the value of "+field, b)
}

// elements returns the elements of a JSON array with commas between.
func elements(field string, array []byte) ([]byte, error) {
	array = bytes.TrimSpace(array)
	if len(array) < 2 || array[0] != '[' || !json.Valid(array) {
		return nil, invalid("the value of %s must be a slice or an array, because HasMultiple is set", field)
	}
	return bytes.TrimSpace(array[1 : len(array)-1]), nil
}
