// Package store is what a member of a set keeps: collections with their definitions, indexes and documents, and the log of entries
// from which they come. It knows no wire and no other member.
//
// A Store is applied to and undone entry by entry. Entries, definitions and documents never change, so that members share them. Nothing
// here takes a lock: who has several goroutines guards the Store, but for Newest and Outcome.
package store
