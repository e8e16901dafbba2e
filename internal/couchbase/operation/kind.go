package operation

import "github.com/holdfast-db/holdfast/internal/couchbase/memd"

// KindOf returns the sentinel of a status that is the answer to one part of a sub-document look-up, or nil if the client does not know
// the status.
func KindOf(status memd.Status) error { return meaningOf(status, memd.OpSubdocMultiLookup, 0).kind }
