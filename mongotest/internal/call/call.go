package call

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/changes"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Call is a command that is being executed.
type Call struct {
	Client  *Client // who sent it
	Command Command // what it is
	Result  Result  // what came of it so far

	Evaluation Evaluation // of its filters, expressions and pipelines
}

// MemberIndex returns the index of the member that executes the command, -1 if a mongos does or has not yet chosen one.
func (x *Call) MemberIndex() int {
	if x.Client.Member == nil {
		return -1
	}
	return x.Client.Member.Index
}

// MongosIndex returns the index of the mongos that the command was sent to, -1 if it was sent to a member.
func (x *Call) MongosIndex() int {
	if x.Client.Router == nil {
		return -1
	}
	return x.Client.Router.Index
}

// Execute executes the command and writes the reply's document, or the error's.
func (x *Call) Execute(err error) error {
	var point PointAction
	arrive(x)
	if err == nil {
		point, err = x.FailPoint()
	}
	x.Result.Body, x.Result.Out = wire.BeginDocument(x.Result.Out)
	x.Result.scripted = err != nil
	if err == nil {
		err = executeRouted(x, point)
		x.Evaluated()
		if errors.Is(x.Evaluation.Ended, ErrHangUp) {
			err = ErrHangUp
		}
	}
	if errors.Is(err, ErrHangUp) {
		x.Record(0)
		return err
	}
	if err != nil {
		x.Result.Out = x.Result.Out[:x.Result.Body+4]
		x.WriteFailure(mongoerr.From(err), point)
	}
	x.Finish()
	x.Result.Out = wire.EndDocument(x.Result.Out, x.Result.Body)
	profile(x, err)
	return nil
}

// executeHere has the command run by its own function, then waits for its write concern.
func executeHere(x *Call) error {
	applyDefaults(x)
	if err := timePoints(x); err != nil {
		return err
	}
	began := time.Now()
	x.Result.executed = true
	planForProfile(x)
	if x.Command.MaxTime > 0 && x.Command.Name != "getMore" { // there it is the time to wait
		x.Evaluation.EndsBy = began.Add(x.Command.MaxTime)
	}
	x.countOperation()
	defer leave(x.enter())
	err := x.Command.Spec.Run(x)
	use(x, began)
	if (err != nil || x.Result.StatementFailed) && x.InTransaction() && !x.Command.Spec.Ends {
		WithLock(x, abandon)
	}
	if err != nil {
		return x.awaitFailed(err)
	}
	if x.Client.gone() {
		return ErrHangUp
	}
	switch {
	case x.Command.Spec.Write && x.Result.Applied >= 0:
		return x.AwaitWriteConcern()
	case x.Command.ReadConcern == LinearizableConcern:
		return WithLock(x, confirm)
	}
	return nil
}

// executeRouted executes the command, by way of a member if this is a mongos, and says in the reply what became of it.
func executeRouted(x *Call, point PointAction) error {
	run := executeHere
	if x.Client.Router != nil && x.Command.Spec.place == AtShard {
		run = route
	}
	if err := run(x); err != nil {
		return err
	}
	if point.writeConcernError != nil {
		x.Result.Out = wire.AppendDocument(x.Result.Out, "writeConcernError", point.writeConcernError)
	} else if x.Result.ConcernError != nil {
		appendWriteConcernError(x)
	}
	if x.Result.WholeOK {
		x.Result.Out = wire.AppendInt32(x.Result.Out, "ok", 1)
	} else {
		x.Result.Out = wire.AppendDouble(x.Result.Out, "ok", 1)
	}
	appendLabels(x, point)
	return nil
}

// NoteStatements begins an entry for each statement of the command.
func (x *Call) NoteStatements() {
	for _, s := range statements(x) {
		x.Note(s.id, s.raw)
	}
}

// Record puts the entries into the journal, if they are not there, and notes the command's error in them. A command on
// data that has none gets one.
func (x *Call) Record(code int32) {
	if x.Command.Spec == nil || x.Command.Spec.Service {
		return
	}
	if !x.Result.journaled && len(x.Result.Entries) == 0 {
		x.NoteStatements()
	}
	if x.Result.Term == 0 && x.Client.Member != nil { // it neither wrote nor looked at data
		x.Result.Term = WithLock(x, func(x Locked) int64 { return x.Client.Member.Term })
	}
	if x.Result.journaled && code != 0 {
		x.Client.Cluster.Journal.Mark(x.Result.Entries, func(e *journal.Entry) { e.ErrorCode = cmp.Or(e.ErrorCode, code) })
	}
	if !x.Result.journaled {
		for _, e := range x.Result.Entries {
			e.ErrorCode = cmp.Or(e.ErrorCode, code)
		}
		addEntries(x)
	}
}

// addEntries puts the entries into the journal.
func addEntries(x *Call) {
	for _, e := range x.Result.Entries {
		e.Term = x.Result.Term
	}
	x.Client.Cluster.Journal.Add(x.Result.Entries)
	x.Result.journaled = true
}

// Note begins a journal entry for one statement. It is called without the set's mutex, because JournalKey may take long.
func (x *Call) Note(stmt int32, raw []byte) *journal.Entry {
	e := x.Client.Cluster.Journal.Allocate()
	e.Time = time.Now()
	e.Member, e.ConnID, e.RequestID = x.MemberIndex(), x.Client.ID, x.Command.RequestID
	e.Command, e.Namespace = x.Command.Name, ns(x)
	e.StatementID, e.TxnNumber = stmt, -1
	if x.Command.LSID != nil {
		e.LSID = sessionName(x.Command.LSID)
	}
	if x.Command.HasTxn {
		e.TxnNumber = x.Command.Txn
	}
	if raw != nil {
		e.Statement = bson.Raw(raw)
	}
	switch {
	case x.Client.Cluster.JournalKey != nil:
		e.Key = x.Client.Cluster.JournalKey(x.Command.Name, raw)
	case x.Command.comment.Type == bson.TypeString:
		e.Key = string(x.Command.comment.Text())
	}
	x.Result.Entries = append(x.Result.Entries, e)
	return e
}

// statements returns the parts of the command that the journal records one by one.
func statements(x *Call) []rawStatement {
	field := x.Command.Spec.Statements
	if field == "" {
		return []rawStatement{{max(x.Command.StmtID, 0), nil}}
	}
	docs, err := x.Documents(field)
	if err != nil || len(docs) == 0 {
		return []rawStatement{{}}
	}
	list := make([]rawStatement, len(docs))
	for i, d := range docs {
		list[i] = rawStatement{x.StatementID(i), slices.Clone(d)}
	}
	return list
}

type rawStatement struct {
	id  int32
	raw []byte
}

// watching reports whether the command reads a change stream.
func watching(x *Call) bool {
	if x.Command.Name != "aggregate" {
		return x.Result.Watches
	}
	stages := query.Lookup(x.Command.Raw, "pipeline")
	return stages.IsArray() && !query.Lookup(query.Lookup(stages.Data, "0").Data, changes.Stage).Missing()
}
