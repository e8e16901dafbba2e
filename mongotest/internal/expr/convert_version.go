package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/convert/

// The versions in which conversions came. Binary data as text came with 8.0, as numbers later, and documents and arrays as text with 8.3.
var (
	since80 = version.Of(8, 0, 0)
	since83 = version.Of(8, 3, 0)
)

func atLeast(v, since version.Version) bool { return v.IsZero() || v.Has(since) }

// convertArguments are the arguments of $convert that older versions lack.
var convertArguments = map[string]version.Version{"format": since80, "byteOrder": version.Of(8, 1, 0), "base": since83}

// parseConvert reads a $convert as the version does.
func parseConvert(p *parser, op *operator, v Value) (Expression, error) {
	at := p.scope.serverVersion()
	if v.IsDocument() {
		for _, f := range query.ObjectOf(v.Data) {
			if since, ok := convertArguments[f.Name]; ok && !atLeast(at, since) {
				return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$convert found an unknown argument: %s", f.Name)
			}
		}
	}
	own := *op
	own.lazy = func(env *Env, args []Expression) (Value, error) { return convertCallAt(env, args, at) }
	return convertSignature.parse(p, &own, v)
}

// parseToUUID reads a $toUUID, which came with 8.0.
func parseToUUID(p *parser, op *operator, v Value) (Expression, error) {
	if !atLeast(p.scope.serverVersion(), since80) {
		return nil, mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Unrecognized expression '%s'", op.name)
	}
	return parseShorthand(p, op, v)
}

// tooNew reports whether the version does not convert the value's type to the target's yet.
func (t target) tooNew(v Value) bool {
	from, to := v.Type, t.to
	switch {
	case composite(from) && from != to || composite(to) && from != to:
		return to != bson.TypeBoolean && !atLeast(t.version, since83)
	case from == bson.TypeBinary && to == bson.TypeString || from == bson.TypeString && to == bson.TypeBinary:
		return !atLeast(t.version, since80)
	case from == bson.TypeBinary && to != bson.TypeBoolean && to != from || to == bson.TypeBinary && from != to:
		return !atLeast(t.version, convertArguments["byteOrder"])
	}
	return false
}

func composite(t bson.Type) bool { return t == bson.TypeEmbeddedDocument || t == bson.TypeArray }
