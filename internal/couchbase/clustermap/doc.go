// Package clustermap reads the maps of a Couchbase cluster: which nodes there are, which services they offer at which
// addresses, and which node has which vbucket. It has no sockets, no goroutines and no clock.
//
// A [Map] never changes after [Parse]. A map is never trusted: an index that is out of range, or a row that is too short, means
// that the vbucket has no server. The sources are Couchbase's public documentation and its RFCs 0024 and 0048.
package clustermap

import (
	"errors"
	"fmt"
)

// ErrMalformed matches the errors about bytes that are not a cluster map.
var ErrMalformed = errors.New("malformed cluster map")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}
