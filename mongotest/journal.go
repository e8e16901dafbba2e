package mongotest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Entry is the journal's record of one statement attempt that reached the server: one for each document of an insert,
// each statement of an update or delete, and one for each other command on data.
type Entry struct {
	Seq         int64 // position in the journal, from 1
	Time        time.Time
	Member      int
	Term        int64 // of the member; 0 where a mongos found none
	ConnID      int64
	RequestID   int32
	Command     string
	Namespace   string
	LSID        string // the session's id in hexadecimal, "" if the command carried none
	TxnNumber   int64  // -1 if the command carried none
	StatementID int32  // the statement's id within the transaction number; its index if the command carried none
	Key         string // what JournalKey made of it

	// Statement is the raw document of an insert, statement of an update or delete, or command findAndModify; nil else, and where the
	// statements of later entries have more than 64 MiB together. It must not be changed: it may be the stored document itself.
	Statement bson.Raw

	Applied               bool  // this attempt changed data
	Deduplicated          bool  // answered from the session's record, nothing was changed
	RolledBack            bool  // it was applied, and undone when its member met a newer primary
	RequestLost           bool  // a fault kept it from being executed
	ReplyLost             bool  // a fault kept the reply from the client
	Answered              bool  // the reply's bytes were all handed to the client's connection
	ErrorCode             int32 // the code of the statement's error or else the command's, 0 if there was none
	WriteConcernErrorCode int32 // the code of the write concern error, 0 if there was none
}

// String returns the entry on one line.
func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d m%d t%d conn %d req %d %s %s", e.Seq, e.Member, e.Term, e.ConnID, e.RequestID, e.Command, e.Namespace)
	if e.LSID != "" {
		fmt.Fprintf(&b, " lsid %.8s", e.LSID)
	}
	if e.TxnNumber >= 0 {
		fmt.Fprintf(&b, " txn %d/%d", e.TxnNumber, e.StatementID)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, " key %s", e.Key)
	}
	for _, f := range []struct {
		set  bool
		name string
	}{
		{e.Applied, "applied"},
		{e.Deduplicated, "deduplicated"},
		{e.RolledBack, "rolled-back"},
		{e.RequestLost, "request-lost"},
		{e.ReplyLost, "reply-lost"},
		{e.Answered, "answered"},
	} {
		if f.set {
			b.WriteString(" " + f.name)
		}
	}
	if e.ErrorCode != 0 {
		fmt.Fprintf(&b, " error %d", e.ErrorCode)
	}
	if e.WriteConcernErrorCode != 0 {
		fmt.Fprintf(&b, " write-concern-error %d", e.WriteConcernErrorCode)
	}
	return b.String()
}

// noted is an entry of the journal that is being kept, with what becomes of the entry of the log that it stands for.
type noted struct {
	Entry
	outcome store.Outcome // of which Applied and RolledBack are made
}

// journal keeps the newest entries. Its mutex also guards the fields of the entries in it.
type journal struct {
	mu      sync.Mutex
	limit   int
	seq     int64
	entries []*noted
	slab    []noted
	bytes   int // of the entries' statements
	without int // how many of the first entries have lost theirs
}

// journalBytes is how many bytes of statements the journal keeps.
const journalBytes = 64 << 20

// allocate returns an entry to fill in before it is added.
func (j *journal) allocate() *noted {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.slab) == 0 {
		j.slab = make([]noted, 32)
	}
	e := &j.slab[0]
	j.slab = j.slab[1:]
	return e
}

// add appends filled entries.
func (j *journal) add(entries []*noted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		j.seq++
		e.Seq = j.seq
		j.bytes += len(e.Statement)
	}
	j.entries = append(j.entries, entries...)
	for j.bytes > journalBytes {
		j.forgetStatement()
	}
	if len(j.entries) > j.limit+j.limit/4+64 {
		n := len(j.entries) - j.limit
		for j.without < n {
			j.forgetStatement()
		}
		kept := make([]*noted, j.limit, j.limit+j.limit/4+64+len(entries))
		copy(kept, j.entries[n:])
		j.entries, j.without = kept, j.without-n
	}
}

// forgetStatement takes the statement from the oldest entry that has one.
func (j *journal) forgetStatement() {
	e := j.entries[j.without]
	j.bytes -= len(e.Statement)
	e.Statement = nil
	j.without++
}

// mark changes entries that are already in the journal.
func (j *journal) mark(entries []*noted, change func(*noted)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		change(e)
	}
}

// Journal returns copies of the journal's entries, the oldest first.
func (rs *Deployment) Journal() []Entry {
	j := &rs.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	from := max(0, len(j.entries)-j.limit)
	list := make([]Entry, 0, len(j.entries)-from)
	for _, n := range j.entries[from:] {
		e := n.Entry
		e.Applied, e.RolledBack = n.outcome.Applied.Load(), n.outcome.RolledBack.Load()
		list = append(list, e)
	}
	return list
}

// Dump returns, as text, the journal's newest 2,000 entries with one line for each, the transcript as lines of JSON if one is kept,
// and the members' states and counters.
func (rs *Deployment) Dump() string {
	var b strings.Builder
	testserver.DumpEntries(&b, rs.Journal())
	b.WriteString(rs.transcript.String())
	for i := range rs.Members() {
		c := rs.Counters(i)
		fmt.Fprintf(&b, "member %d received %v, %d of %d connections are open\n", i, c.Commands, c.Current, c.Opened)
	}
	rs.set.Lock()
	defer rs.set.Unlock()
	for _, m := range rs.members {
		fmt.Fprintf(&b, "member %d %s: %s, term %d, up %t, isolated %t, last %d, committed %d\n", m.Index, m.addr, m.Role,
			m.Term, m.Up, m.Gate.IsShut(), m.Data.Log.Last(), m.Commit)
	}
	return b.String()
}
