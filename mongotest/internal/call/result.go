package call

import (
	"math"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Result is what came of a command so far: its reply, its statements, and what it saw and wrote. A command that is executed again
// begins with a new one.
type Result struct {
	Hint      store.Hint // of an aggregation
	Out       []byte     // the message of the reply
	Body      int        // where in out its document begins
	ID        int32      // of the message
	Streaming bool       // the reply is one of a stream of hellos
	WholeOK   bool       // the reply says ok with an integer, as that of a distinct on a view
	State     bool       // the reply shall carry the member's topologyVersion
	scripted  bool       // the error is a fault's or a fail point's: it says nothing of the member's state

	Entries   []*journal.Entry
	journaled bool      // the entries are in the journal
	arrived   time.Time // when its execution began, with what a fail point makes it wait
	executed  bool      // its own function was called
	ended     []ended   // the statements, if a profiler may record them
	plans     []Plan    // the same of how they find documents
	Opener    []byte    // of a getMore: the command that opened the cursor
	Target    string    // the namespace, where the command's first value does not tell it
	Explained bool      // the command is only explained, so that it counts as no use of an index

	Term   int64           // of the member when it wrote, read or refused
	Seen   int64           // index of the log up to which reads see
	readAt store.Timestamp // of what a majority read saw, 0 for another
	Vars   Variables
	Match  query.Matching // of the document that was found last
	OnView bool           // what the command looked for is a view

	Within          *replica.Transaction // in which the command runs, nil if in none
	Conflict        error                // why the transaction must be given up
	blocker         *replica.Transaction // the one that keeps the command from writing
	StatementFailed bool                 // a statement failed
	Applied         int64                // index up to which the write concern waits
	ConcernError    *mongoerr.Error
	Watches         bool // the current cursor is that of a change stream
}

// Again returns the result of an execution that has not begun. It has room, and the first n bytes of the reply, from r.
func (r *Result) Again(n int) Result {
	return Result{
		Out: r.Out[:n], Body: r.Body, ID: r.ID, arrived: r.arrived, Entries: r.Entries[:0], Applied: -1, Seen: math.MaxInt64,
	}
}
