package expr

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// operator is one row of the table: how its arguments are written, and what it makes of them. Exactly one of apply, long
// and lazy is set, unless parse makes an Expression of its own.
type operator struct {
	name       string
	min, max   int // how many positional arguments; max -1 for any number
	parse      func(p *parser, op *operator, v Value) (Expression, error)
	apply      func(args []Value) (Value, error)
	long       func(env *Env, args []Value) (Value, error) // apply that may take long, and counts its work
	lazy       func(env *Env, args []Expression) (Value, error)
	rightFirst bool // the arguments are evaluated from the last to the first
	joins      joining
	optimize   func(o *optimizer, c *call) (Expression, error)
}

// operators are all that this package knows, by name.
var operators = make(map[string]*operator)

// Operators returns the names of all operators that are supported.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// unsupported are the real server's operators that need more than a document, or that no test has asked for.
var unsupported = map[string]bool{
	"$toHashedIndexKey": true, "$hash": true, "$hexHash": true, "$encStrStartsWith": true,
	"$encStrEndsWith": true, "$encStrContains": true, "$encStrNormalizedEq": true, "$serializeEJSON": true,
	"$deserializeEJSON": true, "$toArray": true, "$toObject": true, "$top": true, "$topN": true, "$bottom": true,
	"$bottomN": true, "$similarityCosine": true, "$similarityDotProduct": true, "$similarityEuclidean": true,
}

// positional parses arguments in an array, or a single one without.
func positional(p *parser, op *operator, v Value) (Expression, error) {
	parsed, err := p.arguments(v)
	if err != nil {
		return nil, err
	}
	switch n := len(parsed); {
	case op.min == op.max && n != op.min:
		return nil, mongoerr.Errorf(16020, "Expression %s takes exactly %d arguments. %d were passed in.", op.name, op.min, n)
	case op.min <= op.max && (n < op.min || n > op.max):
		return nil, mongoerr.Errorf(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.", op.name, op.min,
			op.max, n)
	}
	return &call{op: op, args: parsed}, nil
}
