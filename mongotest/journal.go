package mongotest

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
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

// Journal returns copies of the journal's entries, the oldest first.
func (rs *Deployment) Journal() []Entry {
	var list []Entry
	rs.cluster.Journal.Each(func(n int) { list = make([]Entry, 0, n) }, func(e *journal.Entry) { list = append(list, entryOf(e)) })
	return list
}

func entryOf(e *journal.Entry) Entry {
	return Entry{
		Seq: e.Seq, Time: e.Time, Member: e.Member, Term: e.Term, ConnID: e.ConnID, RequestID: e.RequestID,
		Command: e.Command, Namespace: e.Namespace, LSID: e.LSID, TxnNumber: e.TxnNumber, StatementID: e.StatementID, Key: e.Key,
		Statement: e.Statement, Applied: e.Outcome.Applied.Load(), Deduplicated: e.Deduplicated, RolledBack: e.Outcome.RolledBack.Load(),
		RequestLost: e.RequestLost, ReplyLost: e.ReplyLost, Answered: e.Answered,
		ErrorCode: e.ErrorCode, WriteConcernErrorCode: e.WriteConcernErrorCode,
	}
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
	for _, m := range rs.cluster.Members {
		fmt.Fprintf(&b, "member %d %s: %s, term %d, up %t, isolated %t, last %d, committed %d\n", m.Index, m.Addr, m.Role,
			m.Term, m.Up, m.Gate.IsShut(), m.Data.Log.Last(), m.Commit)
	}
	return b.String()
}
