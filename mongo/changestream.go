package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// ChangeStream iterates over the changes of a collection, a database or a deployment (Change Streams specification). When
// its server or its connection fails, it resumes after the last event that it returned, so that each event is returned
// once and in order; it tries to resume until the context of Next or TryNext ends, or for [Config.MaxResumeTime]. It is not safe for
// concurrent use.
type ChangeStream struct {
	// Current is the current event. It is valid until the next call of Next or TryNext.
	Current bson.Raw

	client      *Client
	aggregation *aggregation
	stage       []byte // the elements of $changeStream, except those of start
	start       []byte // the elements that say where the first aggregate command starts
	stages      stages // of the application

	cursor      *Cursor
	token       bson.Raw        // where to resume, nil if that is not known
	startAt     *bson.Timestamp // where to start or resume without a token, or nil
	startsAfter bool            // the option StartAfter was given
	opened      bool            // an aggregate command succeeded
	delivered   bool            // an event was returned
	lost        bool            // the cursor is of no use any more: the next step is to resume
	outage      streamOutage
	ended       bool // there will be no more events
	closed      bool
	err         error
}

// Next moves to the next event, which is Current then. It waits until there is one. It returns false if the stream has
// ended, if ctx ends, or after an error; Err returns the reason. After the end of ctx Next may be called again: the
// stream then resumes, and no event is lost. If no event was received before that, the time of ctx was perhaps too short
// for the server: close the stream and open it again with more time. Next may also be called again after an error with the
// labels SystemOverloadedError and RetryableError: the server was still overloaded after maxAdaptiveRetries retries.
func (s *ChangeStream) Next(ctx context.Context) bool { return s.next(ctx, false) }

// TryNext is Next with at most one request for events, before which it resumes if the call before ended with its ctx. A
// resume that follows the request is the last thing that it does. If it returns false and Err returns nil, events can come
// later, as long as ID is not 0. After each call ResumeToken returns the newest token, also if there was no event.
func (s *ChangeStream) TryNext(ctx context.Context) bool { return s.next(ctx, true) }

func (s *ChangeStream) next(ctx context.Context, once bool) bool {
	if s.closed || s.ended {
		return false
	}
	if s.cursor == nil {
		s.fail(ErrNilCursor) // a zero value
		return false
	}
	s.err = nil
	ctx, cancel := s.client.withTimeout(ctx) // one timeout for all requests of this call
	defer cancel()
	for asked := false; !s.advance(ctx); {
		if s.ended || (asked && once) {
			return false
		}
		asked = !s.lost
		if s.err = s.fetch(ctx); s.err != nil {
			return false
		}
	}
	return true
}

// advance moves to the next event of the batch.
func (s *ChangeStream) advance(ctx context.Context) bool {
	c := s.cursor
	if !c.advance() {
		if c.err != nil {
			s.fail(c.err)
		} else if c.id == 0 && !s.lost {
			s.end() // after an invalidate event
		}
		return false
	}
	id, _ := element(c.Current, "_id")
	token := id.Document()
	if token == nil {
		s.closed, c.keepsSession = true, false
		_ = c.closeAfter(ctx)
		s.fail(ErrMissingResumeToken)
		return false
	}
	s.Current, s.delivered = c.Current, true
	if s.token = token; c.unread == 0 && c.token != nil {
		s.token = c.token
	}
	return true
}

// fail ends the stream with an error.
func (s *ChangeStream) fail(err error) {
	s.err, s.ended = err, true
}

// end ends the stream and releases its session.
func (s *ChangeStream) end() {
	s.ended = true
	s.cursor.keepsSession = false
	s.cursor.releaseIfDone()
}

// open runs the aggregate command, the first one or one that resumes.
func (s *ChangeStream) open(ctx context.Context) error {
	a := s.aggregation
	a.stages = s.pipeline()
	var op operation.Operation
	cmd := &streamCommand{cursor: s.cursor, elements: a.elements()}
	a.describe(&op, cmd)
	if err := s.cursor.open(ctx, &op); err != nil {
		return err
	}
	s.received()
	if first := !s.opened; first && s.start == nil && s.token == nil && s.cursor.unread == 0 &&
		s.cursor.wireVersion >= startAtWireVersion && cmd.operationTime != 0 {
		at := timestampOf(cmd.operationTime)
		s.startAt = &at
	}
	s.opened = true
	return nil
}

// streamCommand is the aggregate command of a change stream.
type streamCommand struct {
	cursor        *Cursor
	elements      []byte
	operationTime operation.Timestamp
}

func (c *streamCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	c.cursor.wireVersion = attempt.Server.MaxWireVersion
	return append(b, c.elements...), nil
}

func (c *streamCommand) Accept(reply *operation.Reply) error {
	c.operationTime = reply.OperationTime
	return c.cursor.accept(reply)
}

const startAtWireVersion = 7 // MongoDB 4.0: since then $changeStream has startAtOperationTime

// received keeps the token of a batch without events.
func (s *ChangeStream) received() {
	if c := s.cursor; c.unread == 0 && c.token != nil {
		s.token = c.token
	}
}

// pipeline returns the stage $changeStream and the stages of the application.
func (s *ChangeStream) pipeline() stages {
	outer, b := wire.BeginDocument(nil)
	inner, b := wire.BeginEmbedded(b, "$changeStream")
	b = wire.EndDocument(s.appendStart(append(b, s.stage...)), inner)
	return append(stages(wire.EndDocument(b, outer)), s.stages...)
}

// appendStart writes where the stream starts or resumes (Change Streams specification, "Resume Process").
func (s *ChangeStream) appendStart(b []byte) []byte {
	switch {
	case !s.opened:
		return append(b, s.start...)
	case s.token != nil && s.startsAfter && !s.delivered:
		return wire.AppendDocument(b, "startAfter", s.token)
	case s.token != nil:
		return wire.AppendDocument(b, "resumeAfter", s.token)
	case s.startAt != nil:
		return appendStartAt(b, *s.startAt)
	default:
		return b
	}
}

// Decode decodes the current event into v, which must be a non-nil pointer. After Close it returns ErrNilCursor.
func (s *ChangeStream) Decode(v any) error {
	if s.closed || s.cursor == nil {
		return ErrNilCursor
	}
	return s.cursor.Decode(v)
}

// Err returns the error of the last call of Next or TryNext, or of Close. It is nil if there was none.
func (s *ChangeStream) Err() error { return s.err }

// ID returns the id of the stream's cursor on its server. It is 0 if there is none: after the stream has ended, and before
// it has resumed.
func (s *ChangeStream) ID() int64 {
	if s.lost || s.cursor == nil {
		return 0
	}
	return s.cursor.id
}

// ResumeToken returns the token with which a new stream continues after the last event that was returned, for the options
// ResumeAfter and StartAfter. To keep the newest token, call it after each call of TryNext. It is nil if no token is
// known yet.
func (s *ChangeStream) ResumeToken() bson.Raw { return s.token }

// RemainingBatchLength returns the number of events in the current batch that were not returned yet.
func (s *ChangeStream) RemainingBatchLength() int {
	if s.cursor == nil {
		return 0
	}
	return s.cursor.unread
}

// SetBatchSize sets the largest number of events in each of the next batches. 0 means that the server chooses.
func (s *ChangeStream) SetBatchSize(size int32) {
	if s.cursor != nil {
		s.cursor.SetBatchSize(size)
	}
}

// Close closes the stream here and on its server. It may be called more than once.
func (s *ChangeStream) Close(ctx context.Context) error {
	if s.closed || s.cursor == nil {
		return nil
	}
	s.closed = true
	s.cursor.keepsSession = false
	s.err = s.cursor.Close(ctx)
	return s.err
}
