package command

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// moveTo gives a collection a namespace in another database, by the steps of the real server, which change streams and the oplog show
// (SERVER-62556, SERVER-62594): a temporary collection gets the indexes and the documents, then the name, and the source is dropped.
// All of it is one step for other commands.
func moveTo(x call.Locked, c *store.Collection, r *renaming, note *journal.Entry) error {
	drop := &store.Entry{Op: store.Drop, NS: r.from}
	if err := x.Unblocked(drop, c); err != nil {
		return err
	}
	def := *c.Def
	def.UUID = store.NewUUID()
	temporary := replica.TemporaryFor(r.to, def.UUID)
	first, err := bare(&def)
	if err != nil {
		return err
	}
	list := []*store.Entry{{Op: store.Create, NS: temporary, Change: &store.Change{After: first}}}
	if len(first.Indexes) < len(def.Indexes) {
		list = append(list, &store.Entry{Op: store.Alter, NS: temporary, Change: &store.Change{Before: first, After: &def}})
	}
	silent := !x.Client.Set.Version.TellsMoves()
	c.Scan(func(record *store.Record) bool {
		list = append(list, &store.Entry{Op: store.Put, NS: temporary, Key: record.Key, After: record.Doc, FromMigrate: silent})
		return true
	})
	list = append(list, &store.Entry{Op: store.Rename, NS: temporary, Change: &store.Change{Before: &def, After: &def, To: r.to}})
	for _, e := range list {
		if err := x.Append(e, -1, nil); err != nil {
			return err
		}
	}
	return x.Append(drop, -1, note)
}

// bare returns a definition with no indexes but those that its options give every new collection.
func bare(d *store.Definition) (*store.Definition, error) {
	made, err := store.DefinitionOf(d.Options)
	if err != nil {
		return nil, err
	}
	return d.With(slices.DeleteFunc(slices.Clone(d.Indexes), func(ix *store.Index) bool { return made.Named(ix.Name) == nil })), nil
}
