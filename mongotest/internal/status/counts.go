// Package status counts what a server does, for serverStatus.
package status

import "sync/atomic"

// Kind is a kind of operation that is counted by itself.
type Kind int

// The kinds, in the order of serverStatus.
const (
	Insert Kind = iota
	Query
	Update
	Delete
	GetMore
	Command
	Aggregate // the newest servers only
	kinds
)

// names are those of the kinds.
var names = [kinds]string{"insert", "query", "update", "delete", "getmore", "command", "aggregate"}

// KindOf returns the kind of a statement: "insert", "update" or "delete".
func KindOf(statement string) Kind {
	switch statement {
	case "insert":
		return Insert
	case "update":
		return Update
	}
	return Delete
}

// Counts are what a server has counted since its start. All may be used from any goroutine.
type Counts struct {
	operations [kinds]atomic.Int64

	Errors           atomic.Int64 // that clients got
	Readers, Writers atomic.Int64 // commands on data that are executed now

	Requests          atomic.Int64 // messages that came
	In, Out           atomic.Int64 // bytes of messages, before their compression
	RawIn, RawOut     atomic.Int64 // bytes of messages as they came and went
	Rejected          atomic.Int64 // connections
	Serving, Awaiting atomic.Int64 // connections with a message; those of them whose hello waits for a change
}

// Count counts operations of a kind.
func (c *Counts) Count(k Kind, n int64) { c.operations[k].Add(n) }
