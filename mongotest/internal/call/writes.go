package call

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Fail records a statement's error.
func (o *Outcome) Fail(index int, note *journal.Entry, err error) {
	e := mongoerr.From(err)
	note.ErrorCode = e.Code
	o.Failures = append(o.Failures, Failure{index, e})
}

// ExecutedBefore returns the oplog entry of a statement that was executed before, which is then told as done; nil if it was
// not.
func (x Locked) ExecutedBefore(note *journal.Entry, o *Outcome) *store.Entry {
	e := x.Executed(note.StatementID)
	if e != nil {
		note.Deduplicated = true
		o.Retried = append(o.Retried, note.StatementID)
		o.N++
	}
	return e
}

// OrderedArg reads the arguments of insert, update and delete beside their statements.
func (x *Call) OrderedArg() (bool, error) {
	ordered := true
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "bypassDocumentValidation":
			x.Command.Bypass = e.True()
		case "ordered":
			ordered = e.True()
		case "let":
			if err := x.LetField(x.Command.Name, e); err != nil {
				return false, err
			}
		}
	}
	return ordered, nil
}

// WriteStatements executes the n statements of a write command by one, and answers with what they did.
func (x *Call) WriteStatements(n int, ordered bool, one func(x Locked, i int, o *Outcome) bool) error {
	var all Outcome
	err := x.WritingUnits(func(x Locked) error {
		return x.Statements(n, ordered, func(i int, o *Outcome) bool { return one(x, i, o) }, func(i int, o *Outcome) {
			x.CountStatement(x.Command.Name, o)
			noteEnded(x.Call, i, o)
			all.Add(o)
		})
	})
	if err != nil {
		return err
	}
	appendOutcome(x, &all)
	return nil
}

// appendOutcome writes the reply of a write command.
func appendOutcome(x *Call, o *Outcome) {
	x.Result.StatementFailed = len(o.Failures) > 0
	dst := wire.AppendInt32(x.Result.Out, "n", o.N)
	dst = appendUpserted(dst, o.Upserted)
	dst = appendFailures(dst, o.Failures)
	if x.Command.Name == "update" {
		dst = wire.AppendInt32(dst, "nModified", o.Modified)
	}
	x.Result.Out = dst
	x.AppendWritten(o.Retried)
}

// AppendWritten writes the last fields of every write's reply: in which term and up to where it was applied, and which
// statements were not executed again.
func (x *Call) AppendWritten(retried []int32) {
	dst := x.Result.Out
	if !x.Client.Set.Standalone {
		dst = wire.AppendObjectID(dst, "electionId", replica.ElectionID(x.Result.Term))
		if e := WithLock(x, func(x Locked) *store.Entry { return x.Client.Member.Data.Log.At(x.Result.Applied) }); e != nil {
			dst = AppendOpTime(dst, "opTime", e)
		}
	}
	if len(retried) > 0 {
		at, list := wire.BeginArray(dst, "retriedStmtIds")
		for i, id := range retried {
			list = wire.AppendInt32(list, wire.ArrayKey(i), id)
		}
		dst = wire.EndDocument(list, at)
	}
	x.Result.Out = dst
}

// Admissible returns why a document may not be stored, as a new one or as the replacement of that with the same _id; nil if
// it may.
func (x Locked) Admissible(key string, doc []byte, isNew bool) error {
	c, err := x.Collection(x.Command.Full)
	if c == nil {
		return err
	}
	r := c.ByKey[key]
	if c.Def.Options.Filter != nil && !x.Command.Bypass {
		var before []byte
		if r != nil && !isNew {
			before = r.Doc
		}
		if err := x.Validate(&c.Def.Options, before, doc); err != nil {
			return err
		}
	}
	if isNew && r != nil {
		return c.Def.DuplicateID(x.Command.Full, doc)
	}
	return c.Conflict(x.Command.Full, key, doc)
}

// Validate returns why the validator of a collection's options does not let a document be stored.
func (x Locked) Validate(o *store.Options, before, after []byte) error {
	_, err := x.Memoized(MemoKey{o, &after[0]}, func() ([]byte, error) {
		return nil, o.Validate(x.Context(), before, after, x.Client.Set.Version.AtLeast(5, 0))
	})
	return err
}
