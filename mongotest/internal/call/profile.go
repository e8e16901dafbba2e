package call

import (
	"cmp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/profiling"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/database-profiler/

// profiled is what a profiler may record of one operation.
type profiled struct {
	op      string
	command []byte
	index   int // of the statement, -1 if it is the whole command
	took    time.Duration
	did     *Outcome // nil if it is no write
	plan    Plan
	failure *mongoerr.Error
}

// ended is a statement that was executed, or given up.
type ended struct {
	at      time.Time
	index   int
	outcome Outcome
}

// Plan is how a statement finds documents. Without a summary it is not known.
type Plan struct {
	Summary    string
	Keys, Docs int32 // that were looked at
	Sorts      bool
	Competed   bool // it was the best of several
}

// arrive notes for the profiler that the execution begins. At a mongos it is not yet known whose profiler that is.
func arrive(x *Call) {
	x.Result.arrived, x.Result.executed = time.Time{}, false
	if m := x.Client.Member; m == nil || !m.Profiling.Idle() {
		x.Result.arrived = time.Now()
	}
}

// planForProfile finds out how the command finds documents, before it changes them.
func planForProfile(x *Call) {
	m := x.Client.Member
	if m == nil || m.Profiling.Idle() || x.Command.Spec.Plans == nil || x.Client.Direct || x.InTransaction() {
		return
	}
	if m.Profiling.Of(x.Command.DB).Level != profiling.Off {
		x.Result.plans = x.Command.Spec.Plans(x)
	}
}

// noteEnded notes for the profiler that a statement has ended.
func noteEnded(x *Call, index int, o *Outcome) {
	if m := x.Client.Member; m != nil && !m.Profiling.Idle() {
		x.Result.ended = append(x.Result.ended, ended{time.Now(), index, *o})
	}
}

// profile lets the profiler of the member that executed the command record it, after its reply was written. Nobody records what the
// test itself does, nor what is no command on data.
func profile(x *Call, err error) {
	m := x.Client.Member
	if m == nil || !x.Result.executed || x.Result.arrived.IsZero() || x.Client.Direct || x.Command.Spec.Service || m.Profiling.Idle() {
		return
	}
	ns := profiledNamespace(x)
	db, _, _ := strings.Cut(ns, ".")
	state := m.Profiling.Of(db)
	if state.Level == profiling.Off {
		return // another database is profiled
	}
	for _, op := range profiledOperations(x, err) {
		entry := appendProfiled(nil, x, ns, &op)
		if state.Wants(op.took, func(filter []byte) bool { return profileMatches(x, filter, entry) }) {
			recordProfiled(x, db, entry)
		}
	}
}

// profileMatches reports whether an entry matches the profiler's filter; one that cannot be evaluated has no match.
func profileMatches(x *Call, filter, entry []byte) bool {
	m, err := x.Matcher(filter)
	if err != nil {
		return false
	}
	matches, err := m.Matches(entry)
	return matches && err == nil
}

func recordProfiled(x *Call, db string, entry []byte) {
	WithLock(x, func(x Locked) *store.Collection {
		c := x.Client.Member.Data.Profile(db)
		c.Note(entry)
		x.Client.Set.ChangedLocked() // who tails it
		return c
	})
}

// profiledNamespace returns the namespace of an operation: a command that is on no collection has one that says so.
func profiledNamespace(x *Call) string {
	switch full := ns(x); {
	case full != x.Command.DB:
		return full
	case x.Command.Name == "aggregate":
		return x.Command.DB + ".$cmd.aggregate"
	case x.Command.Name == "explain":
		if it := query.Elements(x.Command.First.Data); len(it) > 0 && it[0].Type == bson.TypeString {
			return x.Command.DB + "." + string(it[0].Text())
		}
	}
	return x.Command.DB + ".$cmd"
}

// profiledOperations returns the operations of a command: each statement of an update or a delete is one, and an insert is one.
func profiledOperations(x *Call, err error) []profiled {
	whole := profiled{op: "command", command: x.Command.Raw, index: -1, took: time.Since(x.Result.arrived)}
	if err != nil {
		whole.failure = mongoerr.From(err)
	}
	if len(x.Result.plans) > 0 {
		whole.plan = x.Result.plans[0]
	}
	switch x.Command.Name {
	case "find":
		whole.op = "query"
	case "getMore":
		whole.op = "getmore"
	case "insert":
		whole.op, whole.did = "insert", new(Outcome)
		for i := range x.Result.ended {
			whole.did.Add(&x.Result.ended[i].outcome)
		}
		whole.failure = cmp.Or(whole.failure, lastFailure(whole.did))
	case "update", "delete":
		if len(x.Result.ended) > 0 {
			return profiledStatements(x)
		}
	}
	return []profiled{whole}
}

// profiledStatements returns the operations of an update or a delete.
func profiledStatements(x *Call) []profiled {
	op := "update"
	if x.Command.Name == "delete" {
		op = "remove"
	}
	docs, _ := x.Documents(x.Command.Spec.Statements)
	list := make([]profiled, len(x.Result.ended))
	before := x.Result.arrived
	for i := range list {
		e := &x.Result.ended[i]
		list[i] = profiled{op: op, command: docs[e.index], index: e.index, took: e.at.Sub(before), did: &e.outcome, failure: lastFailure(&e.outcome)}
		if e.index < len(x.Result.plans) {
			list[i].plan = x.Result.plans[e.index]
		}
		before = e.at
	}
	return list
}

func lastFailure(o *Outcome) *mongoerr.Error {
	if n := len(o.Failures); n > 0 {
		return o.Failures[n-1].Err
	}
	return nil
}
