package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/renameCollection/

// renaming is a parsed renameCollection.
type renaming struct {
	from, to   string
	dropTarget bool
	id         *store.UUID // that the source must have, nil for any
}

func cmdRenameCollection(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	r, err := parseRenaming(x)
	if err != nil {
		return err
	}
	x.Result.Target = r.from
	for _, ns := range [...]string{r.from, r.to} {
		if err := x.CheckOplog(ns); err != nil {
			return err
		}
	}
	note := x.Note(0, nil)
	return x.Writing(func(x call.Locked) error {
		err := rename(x, x.Client.Member, r, note)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		}
		return err
	})
}

func parseRenaming(x *call.Call) (*renaming, error) {
	switch x.Command.First.Type {
	case bson.TypeString:
	case bson.TypeNull:
		return nil, fields.Missing(x.Command.Name, x.Command.Name)
	default:
		return nil, fields.WrongType(x.Command.Name, x.Command.Name, x.Command.First.Type, "string")
	}
	r := &renaming{from: string(x.Command.First.Text())}
	for i := range x.Command.Args {
		if err := r.field(&x.Command.Args[i]); err != nil {
			return nil, err
		}
	}
	return r, r.check()
}

func (r *renaming) field(e *wire.Element) error {
	switch string(e.Key) {
	case "to":
		r.to = string(e.Text())
	case "collectionUUID":
		id, err := call.ParseUUID("renameCollection.collectionUUID", e.Value)
		r.id = &id
		return err
	case "dropTarget":
		switch e.Type {
		case bson.TypeBoolean:
			r.dropTarget = e.True()
		case bson.TypeBinary:
			return fields.Unsupported("renameCollection", "dropTarget with a UUID")
		default:
			return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'renameCollection.dropTarget' is the wrong type '%s', expected types "+
				"'[bool, binData]'", query.TypeName(e.Type))
		}
	}
	return nil
}

func (r *renaming) check() error {
	db, coll, _ := strings.Cut(r.from, ".")
	if err := call.CheckNamespace(db, coll); err != nil {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid source namespace: %s", strings.TrimSuffix(r.from, "."))
	}
	if r.from == r.to {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	}
	if db, coll, _ = strings.Cut(r.to, "."); db == "" || coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid target namespace: %s", strings.TrimSuffix(r.to, "."))
	}
	if err := call.CheckNamespace(db, coll); err != nil {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "error with target namespace: %s", mongoerr.From(err).Message)
	}
	if err := call.CheckRenaming(r.from, r.to); err != nil {
		return err
	}
	if r.id != nil && !r.within() {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot provide an expected collection UUID when renaming across databases")
	}
	return nil
}

// within reports whether the collection stays in its database.
func (r *renaming) within() bool {
	from, _, _ := strings.Cut(r.from, ".")
	to, _, _ := strings.Cut(r.to, ".")
	return from == to
}

// checkUUID refuses a source with another UUID than the one that is asked for, and tells which collection of the database has that.
func (r *renaming) checkUUID(m *call.Member) error {
	c := m.Data.Collections[r.from]
	if r.id == nil || c != nil && !c.IsView() && c.Def.UUID == *r.id {
		return nil
	}
	db, coll, _ := strings.Cut(r.from, ".")
	extra := wire.AppendBinary(wire.AppendString(nil, "db", db), "collectionUUID", bson.TypeBinaryUUID, r.id[:])
	extra = wire.AppendString(extra, "expectedCollection", coll)
	actual := ""
	for ns, other := range m.Data.Collections {
		if of, name, _ := strings.Cut(ns, "."); of == db && !other.IsView() && other.Def.UUID == *r.id {
			actual = name
		}
	}
	if actual == "" {
		extra = wire.AppendValue(extra, "actualCollection", bson.TypeNull, nil)
	} else {
		extra = wire.AppendString(extra, "actualCollection", actual)
	}
	return &mongoerr.Error{Code: mongoerr.CollectionUUIDMismatch, Message: "Collection UUID does not match that specified", Extra: extra}
}

// rename gives a collection another namespace.
func rename(x call.Locked, m *call.Member, r *renaming, note *journal.Entry) error {
	if err := r.checkUUID(m); err != nil {
		return err
	}
	c := m.Data.Collections[r.from]
	switch {
	case c.IsView():
		return mongoerr.Errorf(mongoerr.CommandNotSupportedOnView, "cannot rename view: %s", r.from)
	case c == nil:
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "Source collection %s does not exist", r.from)
	case m.Data.Collections[r.to].IsView():
		return mongoerr.Errorf(mongoerr.NamespaceExists, "a view already exists with that name: %s", r.to)
	case m.Data.Collections[r.to] != nil && !r.dropTarget:
		return mongoerr.Errorf(mongoerr.NamespaceExists, "target namespace exists")
	}
	if !r.within() {
		return moveTo(x, c, r, note)
	}
	after := *c.Def
	return x.Append(&store.Entry{Op: store.Rename, NS: r.from, Change: &store.Change{Before: c.Def, After: &after, To: r.to}}, -1, note)
}
