package mongotest

import (
	"iter"

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
	pipeline *pipeline.Pipeline
	vars     any // of the pipeline
}

// watch answers an aggregate that begins with $changeStream.
func (x *call) watch(a *aggregation, spec query.Value) error {
	parsed, err := changes.ParseSpec(x.client.set.Version, spec)
	if err != nil {
		return err
	}
	if err := x.checkWatch(); err != nil {
		return err
	}
	if err := parsed.Check(x.command.db, x.command.coll, x.command.full, a.SplitsEvents()); err != nil {
		return err
	}
	x.command.readConcern = majorityConcern
	if err := x.reading(); err != nil {
		return err
	}
	c, err := x.openStreamLocked(a, parsed)
	x.client.set.Unlock()
	if err != nil {
		return err
	}
	docs, err := c.batch(x, a.batchSize)
	if err != nil {
		return x.executing("aggregate", err)
	}
	return x.open(c, docs, false)
}

// checkWatch refuses a change stream where the server or the session has none.
func (x *call) checkWatch() error {
	switch {
	case x.client.set.Standalone:
		return mongoerr.Errorf(40573, "The $changeStream stage is only supported on replica sets")
	case x.inTransaction():
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: $changeStream")
	case x.command.readConcern != "" && x.command.readConcern != majorityConcern:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command aggregate does not support { readConcern: { level: \"%s\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: Aggregation stage $changeStream cannot run with a readConcern other than 'majority'. "+
			"Current readConcern: %s", x.command.readConcern, x.command.readConcern)
	}
	return nil
}

// openStreamLocked opens a change stream, unless it is to be one of a view.
func (x *call) openStreamLocked(a *aggregation, spec *changes.Spec) (*cursor, error) {
	m := x.client.member
	if _, err := m.storedLocked(x.command.full); err != nil {
		return nil, err
	}
	events, err := changes.Open(spec, x.client.set.Version, x.command.db, x.command.coll, m.Data, m.Commit)
	if err != nil {
		return nil, x.executing("aggregate", err)
	}
	return &cursor{feed: &changeStream{events, a.Pipeline, x.result.vars.values}, await: true}, nil
}

// next returns the next event for the client, nil if there is none yet.
func (s *changeStream) next(x *call) ([]byte, error) {
	if fragment := s.Fragment(); fragment != nil {
		return fragment, nil
	}
	for {
		event, err := s.event(x)
		if event == nil || err != nil {
			return nil, err
		}
		context := x.context()
		context.Source = eventSource{&source{x: x}, event}
		docs, err := s.pipeline.Run(context, s.vars, nothing)
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
func (s *changeStream) event(x *call) ([]byte, error) {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	return s.Next(x.client.member.Data, x.client.member.Commit)
}

func (s *changeStream) newsLocked(x *call) bool { return s.Behind(x.client.member.Commit) }

// over reports whether the stream has ended.
func (s *changeStream) over() bool { return s.Ended() }

// positionOf returns the token behind which a client stands that has a batch of the cursor.
func (s *changeStream) positionOf(c *cursor, batch [][]byte) []byte {
	if c.ahead != nil {
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
