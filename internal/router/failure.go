package router

import (
	"context"
	"errors"
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// fail answers the client after a failed operation. The error is that of the client's connection.
func (f *forwarded) fail(err error) error {
	if f.client.ctx.Err() != nil {
		return f.client.ctx.Err() // the client has gone
	}
	if f.command.silent() {
		return nil
	}
	retried := attempts(err) > 1
	if errors.Is(chosen(err), errInReply) {
		return f.failWrite(retried)
	}
	var e official.CommandError
	if command, ok := chosen(err).(official.CommandError); ok && command.Raw != nil { //nolint:errorlint // it is not wrapped here
		e = command
		return f.client.answer(f.command, f.translated(e.Raw, err, retried))
	}
	return f.client.refuse(f.command, f.withoutReply(err, retried))
}

// chosen returns the error of the attempt that counts, without the history of all attempts.
func chosen(err error) error {
	switch e := err.(type) { //nolint:errorlint // the runner returns these themselves
	case operation.NoServer:
		return e.Err
	case *operation.WithHistory:
		return e.Err
	}
	return err
}

// attempts returns the number of attempts that an operation made.
func attempts(err error) int {
	var history *retry.Error
	if errors.As(err, &history) {
		return history.Total
	}
	return 1
}

// mayHaveApplied reports whether an attempt may have changed something.
func mayHaveApplied(err error) bool {
	var history *retry.Error
	return errors.As(err, &history) && history.MayHaveApplied()
}

func stopReason(err error) retry.StopReason {
	var history *retry.Error
	if errors.As(err, &history) {
		return history.StopReason()
	}
	return retry.NotStopped
}

// withoutReply returns what the client is told when no member has answered.
func (f *forwarded) withoutReply(err error, retried bool) *refusal {
	e := &refusal{code: codeHostUnreachable, name: "HostUnreachable", text: err.Error()}
	var selection *cluster.SelectionError
	switch {
	case f.op.Kind == operation.Write && mayHaveApplied(err) && !errors.Is(err, errMaxTime):
		// Whatever it waited for then: no error that says that nothing was done.
	case stopReason(err) == retry.StopNotBuilt: // it is too large with what the router appends
		e.code, e.name = codeBadValue, "BadValue"
	case errors.Is(err, errTooMany):
		e.code, e.name = codeAdmissionQueueFull, "AdmissionQueueOverflow"
		e.labels = []string{labelSystemOverloaded, labelRetryable, labelNoWritesPerformed}
		return e
	case errors.Is(err, errMaxTime), errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, cluster.ErrSelectionTimeout):
		e.code, e.name = codeMaxTimeMSExpired, "MaxTimeMSExpired"
	case errors.Is(err, cluster.ErrSelectionTimeout), operation.NoMember(err) && !retried: // after a failed attempt its error counts
		e.code, e.name = codeFailedToSatisfy, "FailedToSatisfyReadPreference"
	case errors.As(err, &selection):
		if selection.Err != nil && !errors.Is(err, cluster.ErrPoolClosed) {
			e.code, e.name = codeFailedToSatisfy, "FailedToSatisfyReadPreference"
		}
	}
	e.labels = f.labels(e.code, retried)
	return e
}

// labels returns the labels that a mongos gives to an error which it has itself, or that it puts in place of a change of state.
func (f *forwarded) labels(code int32, retried bool) []string {
	q := f.command
	ends := routes[q.Name] == ends
	switch {
	case q.transaction && !ends:
		return []string{labelTransient}
	case code != codeHostUnreachable:
		return nil
	case (q.numbered || ends) && !retried:
		return []string{labelRetryableWrite}
	case f.watches():
		return []string{labelResumable}
	}
	return nil
}

// watches reports whether the command is one of a change stream.
func (f *forwarded) watches() bool {
	if f.command.Name == "getMore" {
		return f.client.router.cursors.watches(f.command.cursor)
	}
	return opensChangeStream(f.command)
}

// opensChangeStream reports whether the first stage of an aggregation is $changeStream.
func opensChangeStream(q *command) bool {
	if q.Name != "aggregate" {
		return false
	}
	pipeline := field(q.Body, "pipeline")
	stages := wire.Elements(pipeline.Array())
	if !stages.Next() {
		return false
	}
	first := wire.Elements(stages.Document())
	return first.Next() && string(first.Key) == "$changeStream"
}

// stateChange reports whether a code means that a member has changed its state, which would make a driver drop its connections to the
// router.
func stateChange(code int32) bool {
	return topology.IsNotPrimary(code, "", true) || topology.IsRecovering(code, "", true)
}

// translated returns the error reply of a member as the client gets it.
func (f *forwarded) translated(reply bson.Raw, err error, retried bool) []byte {
	var parsed operation.Reply
	if parsed.Parse(reply) != nil {
		return reply
	}
	if !stateChange(parsed.Code) && !hasStateChange(&parsed) && !retried {
		return reply
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(reply); it.Next(); {
		switch string(it.Key) {
		case "code", "codeName", "errmsg", "errorLabels", "topologyVersion":
		case "writeConcernError", "writeErrors":
			dst = appendSettled(dst, it.Element)
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	code, name := parsed.Code, string(parsed.CodeName)
	labels := parsed.LabelTexts()
	if stateChange(code) {
		code, name = codeHostUnreachable, "HostUnreachable"
		labels = union(labels, f.labels(code, retried))
	}
	if retried {
		labels = slices.DeleteFunc(labels, func(l string) bool { return l == labelRetryableWrite })
	}
	return wire.EndDocument(appendFailure(dst, err.Error(), code, name, labels), at)
}

func appendFailure(dst []byte, text string, code int32, name string, labels []string) []byte {
	dst = wire.AppendString(dst, "errmsg", text)
	dst = wire.AppendInt32(dst, "code", code)
	if name != "" {
		dst = wire.AppendString(dst, "codeName", name)
	}
	if len(labels) > 0 {
		dst = wire.AppendStrings(dst, "errorLabels", labels)
	}
	return dst
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// failWrite sends a reply with writeErrors or a writeConcernError, in which changes of state have another code.
func (f *forwarded) failWrite(retried bool) error {
	reply := f.replyBody()
	var parsed operation.Reply
	if parsed.Parse(reply) != nil || !hasStateChange(&parsed) && !retried {
		return f.sendReply()
	}
	f.noteCursor()
	return f.client.answer(f.command, settled(reply, retried))
}

// replyBody returns the document of the reply that Accept took.
func (f *forwarded) replyBody() []byte {
	if f.body != nil {
		return f.body
	}
	if f.command.Header.OpCode == wire.OpQuery {
		document, _ := wire.ParseReply(*f.reply)
		return document
	}
	m, _ := wire.ParseMsg(*f.reply)
	return m.Body
}

// hasStateChange reports whether a writeConcernError or one of the writeErrors has the code of a change of state.
func hasStateChange(r *operation.Reply) bool {
	code := field(r.WriteConcernError, "code")
	if n, ok := code.Int64(); ok && stateChange(int32(n)) {
		return true
	}
	for it := wire.Elements(r.WriteErrors); it.Next(); {
		code := field(it.Document(), "code")
		if n, ok := code.Int64(); ok && stateChange(int32(n)) {
			return true
		}
	}
	return false
}

// settled returns a reply in which no error has the code of a change of state.
func settled(reply []byte, retried bool) []byte {
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(reply); it.Next(); {
		switch string(it.Key) {
		case "writeConcernError", "writeErrors":
			dst = appendSettled(dst, it.Element)
		case "topologyVersion":
		case "errorLabels":
			dst = appendLabels(dst, it.Array(), retried)
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// appendSettled writes an error document, or an array of them, without the code of a change of state. Elements of other types stay.
func appendSettled(dst []byte, e wire.Element) []byte {
	switch {
	case e.Document() != nil:
		return wire.AppendDocument(dst, string(e.Key), withoutStateChange(e.Document()))
	case e.Array() != nil:
		at, dst := wire.BeginArray(dst, string(e.Key))
		for it := wire.Elements(e.Array()); it.Next(); {
			dst = appendSettled(dst, it.Element)
		}
		return wire.EndDocument(dst, at)
	}
	return wire.AppendElement(dst, e)
}

// withoutStateChange returns an error document, whose code is another one if it is that of a change of state.
func withoutStateChange(document []byte) []byte {
	code := field(document, "code")
	if n, _ := code.Int64(); !stateChange(int32(n)) {
		return document
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(document); it.Next(); {
		switch string(it.Key) {
		case "code":
			dst = wire.AppendInt32(dst, "code", codeHostUnreachable)
		case "codeName":
			dst = wire.AppendString(dst, "codeName", "HostUnreachable")
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// appendLabels writes the labels of a reply, without RetryableWriteError if the router has retried: then the client must not.
func appendLabels(dst, array []byte, retried bool) []byte {
	var labels []string
	for it := wire.Elements(array); it.Next(); {
		if text := it.Text(); text != nil && (!retried || string(text) != labelRetryableWrite) {
			labels = append(labels, string(text))
		}
	}
	if len(labels) == 0 {
		return dst
	}
	return wire.AppendStrings(dst, "errorLabels", labels)
}
