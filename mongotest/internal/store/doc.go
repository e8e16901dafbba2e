// Package store has the data of one member of a set: collections with their definitions, indexes and documents, and the log of entries
// from which they come. It knows no messages and no other member.
//
// Entries are applied to a Store, and undone, one by one. Entries, definitions and documents never change, so members
// share them. Nothing here takes a lock: a caller with several goroutines must guard the Store, except for Newest and
// Outcome.
package store
