package store

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/index-partial/

// partially reads partialFilterExpression.
func (r *specReader) partially(e *wire.Element) error {
	doc := slices.Clone(e.Document())
	f := &query.Filter{}
	if err := f.ParseWith(doc, query.Hooks{Expr: noExpr, Refused: notInPartial, Collation: r.Collation.Rule()}); err != nil {
		return err
	}
	if operator := notPartial(doc); operator != "" {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Expression not supported in partial index: %s", operator)
	}
	r.partial = f
	r.rest = append(r.rest, wire.Element{Type: e.Type, Key: e.Key, Value: doc})
	return nil
}

// notInPartial refuses operators of whole filters.
func notInPartial(operator string) error {
	code := mongoerr.BadValue
	if operator == "$jsonSchema" {
		code = mongoerr.QueryFeatureNotAllowed
	}
	return mongoerr.Errorf(code, "%s is not allowed in this context", operator)
}

// noExpr refuses an $expr.
func noExpr(query.Value, query.Collation) (query.Expr, error) {
	return nil, mongoerr.Errorf(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in this context")
}

// notPartial returns the first operator of a filter that a partial index must not have, "" if there is none.
func notPartial(filter []byte) string {
	it := wire.Elements(filter)
	for it.Next() {
		name := string(it.Key)
		switch {
		case name == "$and" || name == "$or":
			for _, f := range query.Elements(it.Value) {
				if operator := notPartial(f.Data); operator != "" {
					return operator
				}
			}
		case name == "$alwaysTrue" || name == "$alwaysFalse":
			return name + ": 1\n"
		case name != "" && name[0] == '$' && name != "$comment":
			return name
		case it.Type == bson.TypeRegex:
			return "$regex"
		case it.Type == bson.TypeEmbeddedDocument:
			if operator := notPartialOperator(it.Value); operator != "" {
				return operator
			}
		}
	}
	return ""
}

func notPartialOperator(expression []byte) string {
	it := wire.Elements(expression)
	for it.Next() {
		name := string(it.Key)
		if name == "" || name[0] != '$' {
			return "" // a document to be equal to
		}
		switch name {
		case "$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$type", "$geoWithin", "$within", "$geoIntersects":
		case "$all":
			if operator := notPartialAll(it.Value); operator != "" {
				return operator
			}
		case "$exists":
			if v := query.Of(it.Element); !v.True() {
				return "$not"
			}
		default:
			return name
		}
	}
	return ""
}

// notPartialAll returns what an $all has that is no value to be equal to, "" if it has nothing such.
func notPartialAll(list []byte) string {
	if len(list) == len(query.EmptyDocument) {
		return "$alwaysFalse: 1\n" // nothing has all of no values, which the real server sees before it refuses this
	}
	for it := wire.Elements(list); it.Next(); {
		switch {
		case it.Type == bson.TypeRegex:
			return "$regex"
		case it.Type == bson.TypeEmbeddedDocument && !query.Lookup(it.Value, "$elemMatch").Missing():
			return "$elemMatch"
		}
	}
	return ""
}
