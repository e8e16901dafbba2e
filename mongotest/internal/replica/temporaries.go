package replica

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// dropTemporariesLocked drops what was left by each $out and each renaming that ended with the term of the primary before.
func (m *Member) dropTemporariesLocked() {
	for _, ns := range slices.Sorted(maps.Keys(m.Data.Collections)) {
		if strings.Contains(ns, Temporary) || ofRenaming.MatchString(ns) {
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

// ofRenaming matches what TemporaryFor returns.
var ofRenaming = regexp.MustCompile(`^[^.]+\.tmp[0-9a-f]{5}\.renameCollection$`)

// TemporaryFor returns the namespace that a collection has while it is made under a name of another database.
func TemporaryFor(target string, id store.UUID) string {
	db, _, _ := strings.Cut(target, ".")
	return db + ".tmp" + id.String()[:5] + ".renameCollection"
}
