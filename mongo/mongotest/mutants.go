package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/store"
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

// changedAgain returns a document after the change that led from before to after: numbers grow by the same difference, new
// fields are added, and other fields stay as they are.
func changedAgain(current, before, after bson.Raw) (bson.Raw, error) {
	var fields bson.D
	if err := bson.Unmarshal(current, &fields); err != nil {
		return nil, err
	}
	elements, err := after.Elements()
	if err != nil {
		return nil, err
	}
	for _, e := range elements {
		was, is := before.Lookup(e.Key()), e.Value()
		if was.Equal(is) {
			continue
		}
		at := slices.IndexFunc(fields, func(f bson.E) bool { return f.Key == e.Key() })
		if at < 0 {
			fields = append(fields, bson.E{Key: e.Key(), Value: is})
			continue
		}
		field := current.Lookup(e.Key())
		if document, ok := is.DocumentOK(); ok && field.Type == bson.TypeEmbeddedDocument {
			inner, _ := was.DocumentOK()
			if fields[at].Value, err = changedAgain(field.Document(), inner, document); err != nil {
				return nil, err
			}
		} else if grown, ok := is.AsInt64OK(); ok && field.IsNumber() {
			from, _ := was.AsInt64OK()
			fields[at].Value = field.AsInt64() + grown - from
		}
	}
	return bson.Marshal(fields)
}
