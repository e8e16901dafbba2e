package mongotest

import (
	"errors"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// writeConcern says how many members must have a write before it is acknowledged. The zero value is the set's default.
type writeConcern struct {
	members int    // if given
	mode    string // "majority" or another name
	unnamed bool   // w is null
	given   bool   // w was given
	present bool   // the command has a writeConcern, be it empty
	custom  bool   // it is the one that setDefaultRWConcern has set
	journal string // "j" or "fsync", if one of them is asked for
	timeout time.Duration
}

func (w *writeConcern) parse(doc []byte) error {
	w.present = true
	return fields.WriteConcern.Document(doc, w.field)
}

func (w *writeConcern) field(e *wire.Element) error {
	switch string(e.Key) {
	case "w":
		w.given = true
		return w.whom(query.Of(*e))
	case "wtimeout":
		n, _ := query.Of(*e).Integer() // another type is as good as none
		if n > math.MaxInt32 {
			return mongoerr.Errorf(mongoerr.FailedToParse, "wtimeout must be a 32-bit integer")
		}
		w.timeout = time.Duration(n) * time.Millisecond
	case "j", "fsync":
		if e.True() {
			w.journal = string(e.Key)
		}
	case "provenance":
		return checkProvenance("WriteConcernOptions", e)
	}
	return nil
}

var provenances = []string{"clientSupplied", "implicitDefault", "customDefault", "getLastErrorDefaults", "internalWriteDefault"}

func checkProvenance(of string, e *wire.Element) error {
	if text := string(e.Text()); !slices.Contains(provenances, text) {
		return fields.NotEnumerated(of+".provenance", text)
	}
	return nil
}

// whom reads the field w.
func (w *writeConcern) whom(v query.Value) error {
	n := v.Clamped()
	switch {
	case v.Type == bson.TypeString:
		w.mode = string(v.Text())
	case v.IsDocument() && len(v.Data) == len(query.EmptyDocument):
		return mongoerr.Errorf(mongoerr.FailedToParse, "tagged write concern requires tags")
	case v.IsDocument():
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: tags in w are not supported")
	case v.Type == bson.TypeNull:
		w.unnamed = true
	case !v.IsNumber():
		return mongoerr.Errorf(mongoerr.FailedToParse, "w has to be a number, string, or object; found: %s", query.TypeName(v.Type))
	case math.IsNaN(v.AsFloat64()):
		return mongoerr.Errorf(mongoerr.FailedToParse, "w cannot be NaN")
	case n < 0 || n > 50:
		return mongoerr.Errorf(mongoerr.FailedToParse, "w has to be a non-negative number and not greater than 50; found: %d", n)
	default:
		w.members = int(n)
	}
	return nil
}

// checkStandalone refuses what only a member of a replica set has.
func (w *writeConcern) checkStandalone() error {
	switch {
	case w.members > 1:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use 'w' > 1 when a host is not replicated")
	case w.unnamed || w.mode != "" && w.mode != majorityMode:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use non-majority 'w' mode \"%s\" when a host is not a member of a replica set", w.mode)
	}
	return nil
}

// awaitWriteConcern waits until the write concern of the applied writes is satisfied, or notes in writeError why not.
func (x *exec) awaitWriteConcern() error {
	w, rs := &x.command.writeConcern, x.conn.set
	rs.mu.Lock()
	enough := w.given && w.mode == "" && w.members <= 1 || !w.given && !rs.majorityByDefault
	if !enough {
		x.result.writeError = w.checkLocked(rs)
		enough = x.result.writeError != nil
	}
	rs.mu.Unlock()
	if enough {
		return nil
	}
	return x.awaitMembers(w)
}

// awaitMembers waits until as many members as asked for have the applied writes.
func (x *exec) awaitMembers(w *writeConcern) error {
	rs, m := x.conn.set, x.conn.member
	x.conn.waiter.ready = func() bool { return x.interruptedLocked() || x.replicatedLocked() }
	limit := x.limit()
	ownTime := w.timeout > 0 && (limit < 0 || w.timeout <= limit)
	if ownTime {
		limit = w.timeout
	}
	rs.mu.Lock()
	err := rs.awaitLocked(&x.conn.waiter, x.conn.done, limit)
	interrupted, gone := x.interruptedLocked(), x.conn.epoch != m.epoch
	rs.mu.Unlock()
	switch {
	case gone || errors.Is(err, errHangUp):
		return errHangUp
	case interrupted:
		x.result.state = true
		x.result.writeError = mongoerr.Errorf(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	case err != nil && ownTime:
		x.result.writeError = mongoerr.Errorf(mongoerr.WriteConcernFailed, "waiting for replication timed out")
	case err != nil:
		x.result.writeError = mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return nil
}

// interruptedLocked reports whether the member is no longer the primary that applied the write.
func (x *exec) interruptedLocked() bool {
	return x.conn.epoch != x.conn.member.epoch || x.conn.member.role != primary || x.conn.member.term != x.result.term
}

func (x *exec) replicatedLocked() bool {
	w, m := &x.command.writeConcern, x.conn.member
	switch {
	case w.mode == "" && w.given:
		return m.countLocked(x.result.applied) >= w.members
	case w.mode != "" && w.mode != majorityMode:
		return x.conn.set.satisfiesLocked(w.mode, func(other *member) bool { return m.matched[other.index] >= x.result.applied })
	}
	return m.commit >= x.result.applied || x.conn.set.config.mutant.AcknowledgeBeforeMajority
}

func (x *exec) appendWriteConcernError() {
	e := x.result.writeError
	at, dst := wire.BeginEmbedded(x.result.out, "writeConcernError")
	dst = wire.AppendInt32(dst, "code", e.Code)
	name, message := x.conn.set.config.version.Express(e)
	dst = wire.AppendString(dst, "codeName", name)
	dst = wire.AppendString(dst, "errmsg", message)
	info, dst := wire.BeginEmbedded(dst, "errInfo")
	if e.Code == mongoerr.WriteConcernFailed {
		dst = wire.AppendBool(dst, "wtimeout", true)
	}
	dst = x.appendConcern(dst)
	x.result.out = wire.EndDocument(wire.EndDocument(dst, info), at)
}

// appendConcern writes the write concern that was in force.
func (x *exec) appendConcern(dst []byte) []byte {
	w := &x.command.writeConcern
	at, dst := wire.BeginEmbedded(dst, "writeConcern")
	dst = w.appendW(dst)
	if w.journal != "" {
		dst = wire.AppendBool(dst, w.journal, true)
	}
	dst = wire.AppendInt32(dst, "wtimeout", int32(w.timeout/time.Millisecond))
	if x.conn.set.config.version.AtLeast(4, 4) {
		dst = wire.AppendString(dst, "provenance", w.provenance())
	}
	return wire.EndDocument(dst, at)
}

// appendW writes the field w, also of the default: where that is one member the real server leaves it out.
func (w *writeConcern) appendW(dst []byte) []byte {
	switch {
	case w.mode != "":
		return wire.AppendString(dst, "w", w.mode)
	case w.given:
		return wire.AppendInt32(dst, "w", int32(w.members))
	}
	return wire.AppendString(dst, "w", majorityMode)
}

// provenance is where the write concern is from.
func (w *writeConcern) provenance() string {
	switch {
	case w.custom:
		return "customDefault"
	case w.present:
		return "clientSupplied"
	}
	return "implicitDefault"
}

// appendLabels writes the error labels of a reply that succeeded but for its write concern.
func (x *exec) appendLabels(point pointAction) {
	code := Code(0)
	if x.result.writeError != nil {
		code = x.result.writeError.Code
	}
	if point.writeConcernError != nil {
		n, _ := query.Lookup(point.writeConcernError, "code").Integer()
		code = Code(n)
	}
	labels := point.labels
	if labels == nil && x.repeatable(code) {
		labels = []string{"RetryableWriteError"}
	}
	x.writeLabels(labels)
}

func (x *exec) writeLabels(labels []string) {
	if len(labels) > 0 {
		x.result.out = wire.AppendStrings(x.result.out, "errorLabels", labels)
	}
}

// labelsOf returns the labels that the error of a command deserves.
func (x *exec) labelsOf(code Code) []string {
	switch {
	case x.inTransaction() && (mongoerr.Is(code, mongoerr.Transient) || !x.ends() && mongoerr.Is(code, mongoerr.RetryableWrite)):
		return []string{"TransientTransactionError"}
	case x.repeatable(code):
		return []string{"RetryableWriteError"}
	case code == mongoerr.ChangeStreamFatalError || code == mongoerr.ChangeStreamHistoryLost:
		if x.conn.set.config.version.AtLeast(4, 2) {
			return []string{"NonResumableChangeStreamError"}
		}
	case x.conn.set.config.version.LabelsErrors() && x.watching() && mongoerr.Is(code, mongoerr.Resumable|mongoerr.RetryableWrite):
		return []string{"ResumableChangeStreamError"}
	}
	return nil
}

// ends reports whether the command ends a transaction. A command that the server does not know has no spec.
func (x *exec) ends() bool { return x.command.spec != nil && x.command.spec.ends }

// repeatable reports whether the command is worth being repeated after an error: a retryable write, or the end of a transaction.
// A mongos does not say so of its own.
func (x *exec) repeatable(code Code) bool {
	return x.conn.mongos == nil && x.command.hasTxn && (!x.inTransaction() || x.ends()) && mongoerr.Is(code, mongoerr.RetryableWrite) &&
		x.conn.set.config.version.LabelsErrors()
}
