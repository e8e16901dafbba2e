package mongotest

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
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
}

func cmdRenameCollection(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	r, err := x.renaming()
	if err != nil {
		return err
	}
	x.result.target = r.from
	for _, ns := range [...]string{r.from, r.to} {
		if err := x.checkOplog(ns); err != nil {
			return err
		}
	}
	note := x.note(0, nil)
	return x.writing(func() error {
		err := x.renameLocked(x.client.member, r, note)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		}
		return err
	})
}

func (x *call) renaming() (*renaming, error) {
	switch x.command.first.Type {
	case bson.TypeString:
	case bson.TypeNull:
		return nil, fields.Missing(x.command.name, x.command.name)
	default:
		return nil, fields.WrongType(x.command.name, x.command.name, x.command.first.Type, "string")
	}
	r := &renaming{from: string(x.command.first.Text())}
	for i := range x.command.args {
		if err := r.field(&x.command.args[i]); err != nil {
			return nil, err
		}
	}
	return r, r.check()
}

func (r *renaming) field(e *wire.Element) error {
	switch string(e.Key) {
	case "to":
		r.to = string(e.Text())
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
	if err := checkNamespace(db, coll); err != nil {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid source namespace: %s", strings.TrimSuffix(r.from, "."))
	}
	if r.from == r.to {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Can't rename a collection to itself")
	}
	if db, coll, _ = strings.Cut(r.to, "."); db == "" || coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid target namespace: %s", strings.TrimSuffix(r.to, "."))
	}
	if err := checkNamespace(db, coll); err != nil {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "error with target namespace: %s", mongoerr.From(err).Message)
	}
	return checkRenaming(r.from, r.to)
}

// renameLocked gives a collection another namespace. In another database it is a new collection with the same documents.
func (x *call) renameLocked(m *member, r *renaming, note *journal.Entry) error {
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
	after := *c.Def
	if db, _, _ := strings.Cut(r.from, "."); !strings.HasPrefix(r.to, db+".") {
		after.UUID = store.NewUUID()
	}
	return x.appendLocked(&store.Entry{Kind: store.Rename, NS: r.from, Change: &store.Change{Before: c.Def, After: &after, To: r.to}}, -1, note)
}
