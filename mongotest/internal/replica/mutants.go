package replica

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// rolledBackLocked does what the set's defects do after the member has rolled entries back, the newest first.
func (m *Member) rolledBackLocked(undone []*store.Entry) {
	if m.Set.Mutant.RollbackForgetsSessions {
		clear(m.Data.Sessions)
	}
	_, p := m.SourceLocked()
	if p == nil || !m.Set.Mutant.RollbackKeepsData {
		return
	}
	for _, e := range slices.Backward(undone) {
		if after := p.keptLocked(e); after != nil {
			p.AppendLocked(after)
		}
	}
	p.PublishLocked()
}

// keptLocked returns the entry that makes a change of a document once more on the primary, nil if there is nothing to change.
func (m *Member) keptLocked(e *store.Entry) *store.Entry {
	c := m.Data.Collections[e.NS]
	if c == nil || e.Op != store.Put {
		return nil
	}
	current := c.Document(e.Key)
	changed := e.After
	if current != nil {
		var err error
		if changed, err = ChangedAgain(current, e.Before, e.After); err != nil {
			return nil
		}
	}
	kept := &store.Entry{Op: store.Put, NS: e.NS, Key: e.Key, Before: current, After: changed}
	kept.Concern(c.Def)
	return kept
}
