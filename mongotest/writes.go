package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// fail records a statement's error.
func (o *outcome) fail(index int, note *journal.Entry, err error) {
	e := mongoerr.From(err)
	note.ErrorCode = e.Code
	o.failures = append(o.failures, failure{index, e})
}

// executedBeforeLocked returns the oplog entry of a statement that was executed before, which is then told as done; nil if it was
// not.
func (x *call) executedBeforeLocked(note *journal.Entry, o *outcome) *store.Entry {
	e := x.executedLocked(note.StatementID)
	if e != nil {
		note.Deduplicated = true
		o.retried = append(o.retried, note.StatementID)
		o.n++
	}
	return e
}

// orderedArg reads the arguments of insert, update and delete beside their statements.
func (x *call) orderedArg() (bool, error) {
	ordered := true
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "bypassDocumentValidation":
			x.command.bypass = e.True()
		case "ordered":
			ordered = e.True()
		case "let":
			if err := x.letField(x.command.name, e); err != nil {
				return false, err
			}
		}
	}
	return ordered, nil
}

// writeStatements executes the n statements of a write command by one, and answers with what they did.
func (x *call) writeStatements(n int, ordered bool, one func(i int, o *outcome) bool) error {
	var all outcome
	err := x.writingUnits(func() error {
		return x.statementsLocked(n, ordered, one, func(_ int, o *outcome) { all.add(o) })
	})
	if err != nil {
		return err
	}
	x.appendOutcome(&all)
	return nil
}

// appendOutcome writes the reply of a write command.
func (x *call) appendOutcome(o *outcome) {
	x.result.refused = len(o.failures) > 0
	dst := wire.AppendInt32(x.result.out, "n", o.n)
	dst = appendUpserted(dst, o.upserted)
	dst = appendFailures(dst, o.failures)
	if x.command.name == "update" {
		dst = wire.AppendInt32(dst, "nModified", o.modified)
	}
	x.result.out = dst
	x.appendWritten(o.retried)
}

// appendWritten writes the last fields of every write's reply: in which term and up to where it was applied, and which
// statements were not executed again.
func (x *call) appendWritten(retried []int32) {
	dst := x.result.out
	if !x.client.set.Standalone {
		dst = wire.AppendObjectID(dst, "electionId", replica.ElectionID(x.result.term))
		x.client.set.Lock()
		if e := x.client.member.Data.Log.At(x.result.applied); e != nil {
			dst = appendOpTime(dst, "opTime", e)
		}
		x.client.set.Unlock()
	}
	if len(retried) > 0 {
		at, list := wire.BeginArray(dst, "retriedStmtIds")
		for i, id := range retried {
			list = wire.AppendInt32(list, wire.ArrayKey(i), id)
		}
		dst = wire.EndDocument(list, at)
	}
	x.result.out = dst
}

// admissibleLocked returns why a document may not be stored, as a new one or as the replacement of that with the same _id; nil if
// it may.
func (x *call) admissibleLocked(key string, doc []byte, isNew bool) error {
	c, err := x.collectionLocked(x.command.full)
	if c == nil {
		return err
	}
	r := c.ByKey[key]
	if c.Def.Options.Filter != nil && !x.command.bypass {
		var before []byte
		if r != nil && !isNew {
			before = r.Doc
		}
		if err := x.refuses(&c.Def.Options, before, doc); err != nil {
			return err
		}
	}
	if isNew && r != nil {
		return c.Def.DuplicateID(x.command.full, doc)
	}
	return c.Conflict(x.command.full, key, doc)
}

// refuses returns why the validator of a collection's options does not let a document be stored.
func (x *call) refuses(o *store.Options, before, after []byte) error {
	_, err := x.memoizedLocked(memoKey{o, &after[0]}, func() ([]byte, error) {
		return nil, o.Refuses(x.context(), before, after, x.client.set.Version.AtLeast(5, 0))
	})
	return err
}
