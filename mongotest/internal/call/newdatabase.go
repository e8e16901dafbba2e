package call

import (
	"strings"

	"golang.org/x/text/cases"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/limits/#mongodb-limit-Database-Name-Case-Sensitivity

// CheckNewDatabase refuses to make a database whose name differs from that of another one only in case.
func (x Locked) CheckNewDatabase(db string) error {
	folded, other := cases.Fold().String(db), ""
	for full := range x.Client.Member.Data.Collections {
		switch there, _, _ := strings.Cut(full, "."); {
		case there == db:
			return nil
		case cases.Fold().String(there) == folded && (other == "" || there < other):
			other = there
		}
	}
	if other == "" {
		return nil
	}
	return mongoerr.Errorf(mongoerr.DatabaseDifferCase,
		"db name conflicts case-insensitively (Unicode case folding) with existing database: [%s] trying to create [%s]", other, db)
}

// checkNewNamespace is CheckNewDatabase for an entry that makes a collection, or renames one.
func (x Locked) checkNewNamespace(e *store.Entry) error {
	ns := e.NS
	if e.Op == store.Rename {
		ns = e.Change.To
	} else if e.Op != store.Create {
		return nil
	}
	db, _, _ := strings.Cut(ns, ".")
	return x.CheckNewDatabase(db)
}
