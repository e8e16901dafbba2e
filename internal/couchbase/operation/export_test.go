package operation

import (
	"iter"
	"maps"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Statuses are those that the client judges itself.
func Statuses() iter.Seq[memd.Status] { return maps.Keys(statuses) }
