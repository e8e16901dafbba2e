// Package explain finds the plan that MongoDB would have for a search, runs it on a collection's documents, and writes the reply of
// the command explain. It knows no server: everything that it needs is in a [Query].
//
// The rules are those of https://www.mongodb.com/docs/manual/reference/explain-results/ and of the engine's replies, which the
// recorded cases compare.
package explain
