package couchbase

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// LookupInSpec is one part of a look-up within a document.
type LookupInSpec struct {
	op      memd.Opcode
	path    string
	isXattr bool
}

// GetSpecOptions are the options of [GetSpec].
type GetSpecOptions struct {
	IsXattr bool // the path begins in the extended attributes
}

// GetSpec reads the value at a path. An empty path reads the whole document.
func GetSpec(path string, opts *GetSpecOptions) LookupInSpec {
	spec := LookupInSpec{op: memd.OpSubdocGet, path: path, isXattr: opts != nil && opts.IsXattr}
	if path == "" && !spec.isXattr {
		spec.op = memd.OpGet
	}
	return spec
}

// ExistsSpecOptions are the options of [ExistsSpec].
type ExistsSpecOptions struct {
	IsXattr bool // the path begins in the extended attributes
}

// ExistsSpec asks whether there is something at a path. [LookupInResult.Exists] has the answer, and ContentAt gives it as a bool.
func ExistsSpec(path string, opts *ExistsSpecOptions) LookupInSpec {
	return LookupInSpec{op: memd.OpSubdocExists, path: path, isXattr: opts != nil && opts.IsXattr}
}

// CountSpecOptions are the options of [CountSpec].
type CountSpecOptions struct {
	IsXattr bool // the path begins in the extended attributes
}

// CountSpec counts the elements of the array, or the fields of the object, at a path.
func CountSpec(path string, opts *CountSpecOptions) LookupInSpec {
	return LookupInSpec{op: memd.OpSubdocGetCount, path: path, isXattr: opts != nil && opts.IsXattr}
}

// checkSpecs checks the number of parts of a sub-document operation.
func checkSpecs(n int) error {
	switch {
	case n == 0:
		return invalid("ops must have at least one part")
	case n > memd.MaxSpecs:
		return invalid("ops has %d parts, but a server takes at most %d", n, memd.MaxSpecs)
	}
	return nil
}

// checkPath checks the path of a part.
func checkPath(field, path string) error {
	if len(path) > memd.MaxPathLength {
		return fmt.Errorf("%w%w", invalid("the path of %s has %d bytes, but a server takes at most %d", field, len(path), memd.MaxPathLength),
			silent{ErrPathTooBig})
	}
	return nil
}

// encodeLookup returns the value of a look-up, and for each of its parts the place in the caller's list. Extended attributes
// stand first, as servers ask.
func encodeLookup(ops []LookupInSpec) (value []byte, order []int, err error) {
	if err := checkSpecs(len(ops)); err != nil {
		return nil, nil, err
	}
	for i, op := range ops {
		if err := checkPath(fmt.Sprintf("ops[%d]", i), op.path); err != nil {
			return nil, nil, err
		}
	}
	order = attributesFirst(len(ops), func(i int) bool { return ops[i].isXattr })
	for _, i := range order {
		value = memd.AppendLookup(value, memd.Spec{Op: ops[i].op, Flags: xattrFlag(ops[i].isXattr), Path: []byte(ops[i].path)})
	}
	return value, order, nil
}

func xattrFlag(isXattr bool) memd.SpecFlags {
	if isXattr {
		return memd.SpecXattr
	}
	return 0
}

// attributesFirst returns the order in which parts are sent: those about extended attributes, then the others.
func attributesFirst(n int, isXattr func(int) bool) []int {
	order := make([]int, 0, n)
	for _, wanted := range []bool{true, false} {
		for i := range n {
			if isXattr(i) == wanted {
				order = append(order, i)
			}
		}
	}
	return order
}
