// Package query is MongoDB's language of documents as far as the test server speaks it: the order of values, filters,
// updates, projections and sorts, all over BSON bytes. It is pure: no sockets, no clock, no state. It refuses unknown
// operators by name, with the real server's code where it has one. Aggregation expressions and the stages of updates are the
// language of another package, which plugs in by Hooks.
//
// Everything compiled here (Filter, Update, Projection, Sort) is immutable and safe for concurrent use.
package query

import "github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"

// InvalidRegex is the location that is answered for a regular expression that cannot be compiled.
const InvalidRegex mongoerr.Code = 51091

// unsupported refuses something that the real server has and this one has not.
func unsupported(what, name string) *mongoerr.Error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: %s %s is not supported", what, name)
}
