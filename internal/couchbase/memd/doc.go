// Package memd holds the packets of Couchbase's key-value protocol as bytes, for clients and for servers. It has no sockets,
// no goroutines and no clock.
//
// Every function that reads checks each length before it uses it. The returned slices alias the bytes that were read, unless
// the function says otherwise. All integers are big-endian. The sources are Couchbase's public description of the protocol
// and its RFCs.
package memd

import (
	"errors"
	"fmt"
)

// ErrMalformed matches the errors about bytes that are not valid packets.
var ErrMalformed = errors.New("malformed packet")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}
