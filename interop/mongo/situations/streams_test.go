package situations

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// opener opens a change stream.
type opener func(ctx context.Context, w *world, pipeline any, opts ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error)

// scopes are where a change stream can watch.
var scopes = []struct {
	name string
	open opener
}{
	{"a collection", onACollection},
	{"a database", func(ctx context.Context, w *world, pipeline any, opts ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error) {
		return w.db.Watch(ctx, pipeline, opts...)
	}},
	{"a client", func(ctx context.Context, w *world, pipeline any, opts ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error) {
		return w.client.Watch(ctx, pipeline, opts...)
	}},
}

func onACollection(ctx context.Context, w *world, pipeline any, opts ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error) {
	return w.coll.Watch(ctx, pipeline, opts...)
}

// streaming is a situation in which a program opens a change stream and does the steps with it.
type streaming struct {
	name     string
	open     opener // of the collection if it is nil
	prepare  func(context.Context, *world) error
	pipeline any // empty if it is nil
	options  func(*world) *options.ChangeStreamOptionsBuilder
	steps    []streamStep
}

func (s streaming) situation() situation {
	name := "a stream, " + s.name
	for _, step := range s.steps {
		name += ", " + step.name
	}
	return situation{name: name, do: s.do}
}

func (s streaming) do(ctx context.Context, w *world) (any, error) {
	open, pipeline, o := s.open, s.pipeline, options.ChangeStream()
	if open == nil {
		open = onACollection
	}
	if pipeline == nil {
		pipeline = mongo.Pipeline{}
	}
	if s.prepare != nil {
		if err := s.prepare(ctx, w); err != nil {
			return nil, err
		}
	}
	if s.options != nil {
		o = s.options(w)
	}
	openCtx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	stream, err := open(openCtx, w, pipeline, o)
	if err != nil {
		return nil, err
	}
	all := &watched{world: w, ChangeStream: stream}
	defer func() { _ = stream.Close(ctx) }()
	return all.play(ctx, s.steps), stream.Err()
}

// streamSituations are all of change streams.
func streamSituations() []situation {
	var list []situation
	for _, part := range [][]streaming{
		streamLives(), streamOptions(), streamEvents(), streamPipelines(), streamTargets(), streamFailures(),
	} {
		for _, s := range part {
			list = append(list, s.situation())
		}
	}
	return list
}

var lives = [][]streamStep{
	{asksToken, asksID, asksLength, asksErr, asksCurrent, decodesEvent},
	{inserts(10, 11), asksLength, moves, asksLength, moves, asksLength, asksToken, asksErr, asksID},
	{inserts(10, 11), tries, tries, tries, tries, asksErr, asksID},
	{tries, asksToken, inserts(10), tries, tries},
	{tries, tries, asksLength, asksErr, asksID},
	{inserts(10), moves, decodesEvent, decodesEvent, tries, asksCurrent, decodesEvent},
	{inserts(10), moves, closesStream, asksCurrent, decodesEvent, asksErr, asksID, asksToken, asksLength},
	{inserts(10, 11), moves, closesStream, moves, tries, asksErr, asksLength},
	{inserts(10, 11), moves, closesStream, inserts(12), moves, asksErr},
	{closesStream, closesStream, moves, tries, asksErr, asksID, asksToken, setsBatchSize(2), asksLength},
	{closesUnset, closesUnset, asksErr},
	{closesLate, asksErr, moves, closesStream},
	{inserts(10, 11, 12), setsBatchSize(2), moves, asksLength, moves, asksLength, moves},
	{inserts(10, 11, 12), moves, setsBatchSize(1), moves, moves, inserts(13, 14), moves, asksLength, moves, asksLength},
	{inserts(10, 11), setsBatchSize(0), moves, asksLength},
	{inserts(10, 11), setsBatchSize(-1), moves, asksErr, moves},
	{inserts(10), movesNil, triesNil, asksErr},
	{triesNil, asksErr, inserts(10), movesNil},
	{inserts(10, 11), movesLate, asksErr, asksID, moves},
	{inserts(10, 11), moves, movesLate, asksErr, moves, asksErr},
	{inserts(10, 11), triesLate, asksErr, tries},
	{inserts(10, 11), movesPast, asksErr, moves},
	{movesShort, asksErr, asksID, inserts(10), moves, asksErr},
	{inserts(10), moves, movesShort, inserts(11), moves, asksErr, closesStream},
	{moves, asksErr, asksID, asksToken, closesStream, asksErr},
	{movesUntilCancelled, asksErr, inserts(10), moves},
	{movesWithEvent, asksErr, asksToken},
	{movesShort, closesStream, asksErr},
}

func streamLives() []streaming {
	var list []streaming
	for _, scope := range scopes {
		for _, life := range lives {
			list = append(list, streaming{name: scope.name, open: scope.open, steps: life})
		}
	}
	return list
}

// streamValues are further values of the options, which are valid only for change streams.
func streamValues(setter string) []any {
	switch setter {
	case "SetFullDocument", "SetFullDocumentBeforeChange":
		return []any{options.WhenAvailable, options.Required, options.Off}
	case "SetMaxAwaitTime":
		return []any{200 * time.Millisecond, time.Minute}
	case "SetCustom":
		return []any{bson.M{"maxTimeMS": int64(500)}, bson.M{"allowDiskUse": true}}
	case "SetCustomPipeline":
		return []any{bson.M{"showExpandedEvents": true}, bson.M{"fullDocument": "updateLookup"}}
	}
	return nil
}

// streamOptions set each option, and iterate. The stream resumes once, so that its second aggregate command is seen too.
func streamOptions() []streaming {
	var list []streaming
	builder := reflect.TypeFor[*options.ChangeStreamOptionsBuilder]()
	for i := range builder.NumMethod() {
		setter := builder.Method(i)
		if !strings.HasPrefix(setter.Name, "Set") {
			continue
		}
		for _, value := range append(streamValues(setter.Name), optionValues[setter.Type.In(1)]...) {
			list = append(list, streaming{
				name: fmt.Sprintf("%s %s", setter.Name, valueName(value)),
				options: func(*world) *options.ChangeStreamOptionsBuilder {
					o := options.ChangeStream()
					set(o, setting{setter.Name, value})
					return o
				},
				steps: []streamStep{inserts(10, 11), moves, tries, losesCursor, tries, updatesOne, tries, tries},
			})
		}
	}
	return append(list, streamStarts()...)
}

// past is the token of an event before the stream, and its time.
type past struct {
	token bson.Raw
	at    bson.Timestamp
}

func (p *past) note(ctx context.Context, w *world) error {
	s, err := w.coll.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close(ctx) }()
	for id := range 3 {
		if err := w.set.Insert("db.c", bson.D{{Key: "_id", Value: 20 + id}}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	if !s.Next(ctx) {
		return s.Err()
	}
	p.token = append(bson.Raw(nil), s.ResumeToken()...)
	p.at.T, p.at.I, _ = s.Current.Lookup("clusterTime").TimestampOK()
	return nil
}

// streamStarts begin in the past, by each option and by two together.
func streamStarts() []streaming {
	type start = func(*options.ChangeStreamOptionsBuilder, *past)
	after := func(o *options.ChangeStreamOptionsBuilder, p *past) { o.SetStartAfter(p.token) }
	resume := func(o *options.ChangeStreamOptionsBuilder, p *past) { o.SetResumeAfter(p.token) }
	at := func(o *options.ChangeStreamOptionsBuilder, p *past) { o.SetStartAtOperationTime(&p.at) }
	var list []streaming
	for _, c := range []struct {
		name   string
		starts []start
	}{
		{"SetStartAfter a token", []start{after}},
		{"SetResumeAfter a token", []start{resume}},
		{"SetStartAtOperationTime of an event", []start{at}},
		{"SetStartAfter and SetResumeAfter", []start{after, resume}},
		{"SetStartAfter and SetStartAtOperationTime", []start{after, at}},
		{"SetResumeAfter and SetStartAtOperationTime", []start{resume, at}},
	} {
		for _, life := range [][]streamStep{
			{asksToken, asksLength, moves, asksToken, moves, asksLength, tries, tries},
			{losesCursor, moves, losesCursor, tries, tries, tries},
			{movesShort, losesCursor, tries, inserts(10), tries, tries},
		} {
			p := new(past)
			list = append(list, streaming{name: c.name, prepare: p.note, options: func(*world) *options.ChangeStreamOptionsBuilder {
				o := options.ChangeStream().SetBatchSize(1)
				for _, s := range c.starts {
					s(o, p)
				}
				return o
			}, steps: life})
		}
	}
	return list
}
