package mongotest

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// result is what came of a command so far: its reply, its statements, and what it saw and wrote. A command that is executed again
// begins with a new one.
type result struct {
	hint      store.Hint // of an aggregation
	out       []byte     // the message of the reply
	body      int        // where in out its document begins
	id        int32      // of the message
	streaming bool       // the reply is one of a stream of hellos
	wholeOK   bool       // the reply says ok with an integer, as that of a distinct on a view
	state     bool       // the reply shall carry the member's topologyVersion
	scripted  bool       // the error is a fault's or a fail point's: it says nothing of the member's state

	entries   []*journal.Entry
	journaled bool   // the entries are in the journal
	target    string // the namespace, where the command's first value does not tell it

	term   int64           // of the member when it wrote, read or refused
	seen   int64           // index of the log up to which reads see
	readAt store.Timestamp // of what a majority read saw, 0 for another
	vars   variables
	match  query.Matching // of the document that was found last
	onView bool           // what the command looked for is a view

	within     *replica.Transaction // in which the command runs, nil if in none
	conflict   error                // why the transaction must be given up
	blocker    *replica.Transaction // the one that keeps the command from writing
	refused    bool                 // a statement failed
	applied    int64                // index up to which the write concern waits
	writeError *mongoerr.Error
	watches    bool // the current cursor is that of a change stream
}

// again returns the result of an execution that has not begun. It has room, and the first n bytes of the reply, from r.
func (r *result) again(n int) result {
	return result{
		out: r.out[:n], body: r.body, id: r.id, entries: r.entries[:0], applied: -1, seen: math.MaxInt64,
	}
}
