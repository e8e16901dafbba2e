// Package expr is MongoDB's aggregation expressions and accumulators as pure functions over BSON bytes: no sockets, no
// clock, no randomness but from Env. An operator that the real server does not know is refused with its code and text; one that
// only the real server knows is refused by name with the code NotImplemented.
//
// A compiled Expression or Accumulator is immutable and safe for concurrent use; an Env and a State are not.
//
// The operators are in tables, one per family (arithmeticOperators, arrayOperators, ...), which operators.go joins.
package expr
