package command

import (
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/changes"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/changeStreams/

// changeStream is the feed of a cursor on changes: the events of its member's log, through the pipeline of the command. It needs no
// primary.
type changeStream struct {
	*changes.Stream
	pipeline  *pipeline.Pipeline
	selection *pipeline.Pipeline // its start
	vars      any                // of the pipeline
}

// watch answers an aggregate that begins with $changeStream.
func watch(x *call.Call, a *aggregation, spec query.Value) error {
	parsed, err := changes.ParseSpec(x.Client.Set.Version, spec)
	if err != nil {
		return err
	}
	if err := checkWatch(x); err != nil {
		return err
	}
	if err := parsed.Check(x.Command.DB, x.Command.Coll, x.Command.Full, a.SplitsEvents()); err != nil {
		return err
	}
	x.Command.ReadConcern = call.MajorityConcern
	c, err := call.ReadValue(x, func(x call.Locked) (*call.Cursor, error) { return openStream(x, a, parsed) })
	if err != nil {
		return err
	}
	docs, err := c.Batch(x, a.batchSize)
	if err != nil {
		return x.Executing("aggregate", err)
	}
	return x.Open(c, docs, false)
}

// checkWatch refuses a change stream where the server or the session has none.
func checkWatch(x *call.Call) error {
	switch {
	case x.Client.Set.Standalone:
		return mongoerr.Errorf(40573, "The $changeStream stage is only supported on replica sets or mongos")
	case x.InTransaction():
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: $changeStream")
	case x.Command.ReadConcern != "" && x.Command.ReadConcern != call.MajorityConcern:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command aggregate does not support { readConcern: { level: \"%s\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: Aggregation stage $changeStream cannot run with a readConcern other than 'majority'. "+
			"Current readConcern: %s", x.Command.ReadConcern, x.Command.ReadConcern)
	}
	return nil
}

// openStream opens a change stream, unless it is to be one of a view.
func openStream(x call.Locked, a *aggregation, spec *changes.Spec) (*call.Cursor, error) {
	m := x.Client.Member
	if _, err := x.Stored(x.Command.Full); err != nil {
		return nil, err
	}
	events, err := changes.Open(spec, x.Client.Set.Version, x.Command.DB, x.Command.Coll, m.Data, m.Commit)
	if err != nil {
		return nil, x.Executing("aggregate", err)
	}
	return &call.Cursor{Feed: &changeStream{events, a.Pipeline, a.Selection(), x.Result.Vars.Values}, Await: true}, nil
}

// next returns the next event for the client, nil if there is none yet.
func (s *changeStream) Next(x *call.Call) ([]byte, error) {
	if fragment := s.Fragment(); fragment != nil {
		return fragment, nil
	}
	for {
		event, err := s.event(x)
		if event == nil || err != nil {
			return nil, err
		}
		if passed, err := s.passed(x, event); err != nil {
			return nil, err
		} else if !passed {
			continue
		}
		docs, err := s.run(x, s.pipeline, event)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			continue
		}
		if event, err = s.returned(docs[0]); event != nil || err != nil {
			return event, err
		}
	}
}

// passed reports whether an event is behind the point at which the stream begins.
func (s *changeStream) passed(x *call.Call, event []byte) (bool, error) {
	if !s.Resumes() {
		return true, nil
	}
	selected, err := s.run(x, s.selection, event)
	if err != nil {
		return false, err
	}
	return s.Passed(len(selected) > 0)
}

// run returns what a pipeline makes of an event.
func (s *changeStream) run(x *call.Call, p *pipeline.Pipeline, event []byte) ([][]byte, error) {
	context := x.Context()
	context.Source = eventSource{&source{x: x}, event}
	return p.Run(context, s.vars, nothing)
}

// returned makes of an event that has left the pipeline what the client gets; nil if the client has all of it.
func (s *changeStream) returned(event []byte) ([]byte, error) {
	if err := s.CheckEvent(event); err != nil {
		return nil, err
	}
	if s.pipeline.SplitsEvents() {
		return s.Split(event)
	}
	return event, changes.CheckSize(event)
}

// event returns the next event that the pipeline has not seen.
func (s *changeStream) event(x *call.Call) ([]byte, error) {
	return call.WithLockValue(x, func(x call.Locked) ([]byte, error) {
		return s.Stream.Next(x.Client.Member.Data, x.Client.Member.Commit)
	})
}

func (s *changeStream) News(x call.Locked) bool { return s.Behind(x.Client.Member.Commit) }

// Over reports whether the stream has ended.
func (s *changeStream) Over() bool { return s.Ended() }

// PositionOf returns the token behind which a client stands that has a batch of the cursor.
func (s *changeStream) PositionOf(c *call.Cursor, batch [][]byte) []byte {
	if c.Ahead != nil {
		return query.Lookup(batch[len(batch)-1], "_id").Data
	}
	return s.Position()
}

// nothing is no documents.
var nothing iter.Seq[[]byte] = func(func([]byte) bool) {}

// eventSource is what the pipeline of a change stream reads: one event.
type eventSource struct {
	*source
	event []byte
}

func (s eventSource) Stage(_, _, _ string, _ query.Value) ([][]byte, error) {
	return [][]byte{s.event}, nil
}
