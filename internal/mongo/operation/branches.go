package operation

import (
	"slices"

	"github.com/holdfast-db/holdfast/retry"
)

// AnyBranch reports whether f holds for err, or for an error that was joined into it. f looks along one chain of causes, as errors.As
// does, and stops at the first error of the type that it wants: without AnyBranch one that an application joins to it would
// hide it. AnyBranch does not go on into a history: the error beside it was chosen among those of its attempts.
func AnyBranch(err error, f func(error) bool) bool {
	if err == nil || f(err) {
		return err != nil
	}
	return slices.ContainsFunc(joined(err), func(e error) bool { return AnyBranch(e, f) })
}

// joined returns the errors that the first error of the chain has which wraps several.
func joined(err error) []error {
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // it walks along the chain itself
		case *WithHistory:
			err = e.Err
		case NoServer:
			err = e.Err
		case *Cause:
			err = e.of.Wrapped
		case *retry.Error:
			return nil
		case interface{ Unwrap() []error }:
			return e.Unwrap()
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return nil
		}
	}
	return nil
}
