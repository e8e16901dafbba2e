package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// rolledBackLocked does what the set's defects do after the member has rolled entries back, the newest first.
func (m *member) rolledBackLocked(undone []*store.Entry) {
	if m.set.config.mutant.RollbackForgetsSessions {
		clear(m.data.Sessions)
	}
	_, p := m.sourceLocked()
	if p == nil || !m.set.config.mutant.RollbackKeepsData {
		return
	}
	for _, e := range slices.Backward(undone) {
		if after := p.keptLocked(e); after != nil {
			p.appendLocked(after)
		}
	}
	p.publishLocked()
}

// keptLocked returns the entry that makes a change of a document once more on the primary, nil if there is nothing to change.
func (m *member) keptLocked(e *store.Entry) *store.Entry {
	c := m.data.Collections[e.NS]
	if c == nil || e.Kind != store.Put {
		return nil
	}
	current := c.Document(e.Key)
	changed := e.After
	if current != nil {
		var err error
		if changed, err = changedAgain(current, e.Before, e.After); err != nil {
			return nil
		}
	}
	kept := &store.Entry{Kind: store.Put, NS: e.NS, Key: e.Key, Before: current, After: changed}
	kept.Concern(c.Def)
	return kept
}
