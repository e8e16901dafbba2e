package couchbase

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// partFailure is the inner error of a sub-document operation of which one part failed.
type partFailure struct {
	index int // in the list of the application
	err   error
}

func (f *partFailure) Error() string {
	return fmt.Sprintf("sub-document error at index %d: %v", f.index, f.err)
}

func (f *partFailure) Unwrap() error { return f.err }

// namePart makes the error of a mutation name the part that failed, if one did. order has the places of the parts that were sent in the
// list of the application.
func namePart(err error, order []int) error {
	var public *KeyValueError
	var e *operation.Error
	if errors.As(err, &public) && errors.As(err, &e) && e.SpecIndex >= 0 && e.SpecIndex < len(order) {
		public.InnerError = &partFailure{order[e.SpecIndex], public.InnerError}
	}
	return err
}
