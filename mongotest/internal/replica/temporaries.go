package replica

import (
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// dropTemporariesLocked drops what was left by each $out that ended with the term of the primary before.
func (m *Member) dropTemporariesLocked() {
	for _, ns := range slices.Sorted(maps.Keys(m.Data.Collections)) {
		if strings.Contains(ns, Temporary) {
			m.DropLocked(ns)
		}
	}
}

// DropLocked drops a collection that there is.
func (m *Member) DropLocked(ns string) {
	e := &store.Entry{Op: store.Drop, NS: ns}
	e.Concern(m.Data.Collections[ns].Def)
	m.AppendLocked(e)
}

// Temporary is in the names of the collections that $out makes first.
const Temporary = ".tmp.agg_out."
