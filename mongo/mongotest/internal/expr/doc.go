// Package expr is MongoDB's aggregation expressions and accumulators as pure functions over BSON bytes: no sockets, no
// clock, no randomness but what Env gives. What it does not know it refuses with the real server's code and text; what the
// real server knows and this package does not is refused by name with the code NotImplemented.
//
// A compiled Expression or Accumulator is immutable and safe for concurrent use; an Env and a State are not.
//
// The operators are in tables, one per family (arithmeticOperators, arrayOperators, ...), which operators.go joins.
package expr
