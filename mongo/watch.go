package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var changeStreamFields = supported(
	"BatchSize", "Collation", "Comment", "FullDocument", "FullDocumentBeforeChange", "MaxAwaitTime", "ResumeAfter",
	"ShowExpandedEvents", "StartAtOperationTime", "StartAfter", "Custom", "CustomPipeline")

// Watch returns a change stream of all collections in all databases of the deployment. The pipeline, which may be empty,
// changes and filters the events. The read concern must be majority or none. The caller must close the stream.
func (c *Client) Watch(
	ctx context.Context, pipeline any, opts ...options.Lister[options.ChangeStreamOptions],
) (*ChangeStream, error) {
	o, err := collect(changeStreamFields, opts)
	if err != nil {
		return nil, err
	}
	admin := c.Database("admin")
	return watch(ctx, &aggregation{db: admin, onDatabase: true, scope: &admin.scope}, pipeline, &o, true)
}

// Watch returns a change stream of all collections of the database. Otherwise it is Client.Watch.
func (db *Database) Watch(
	ctx context.Context, pipeline any, opts ...options.Lister[options.ChangeStreamOptions],
) (*ChangeStream, error) {
	o, err := databaseArguments(db, changeStreamFields, opts)
	if err != nil {
		return nil, err
	}
	return watch(ctx, &aggregation{db: db, onDatabase: true, scope: &db.scope}, pipeline, &o, false)
}

// Watch returns a change stream of the collection. Otherwise it is Client.Watch.
func (coll *Collection) Watch(
	ctx context.Context, pipeline any, opts ...options.Lister[options.ChangeStreamOptions],
) (*ChangeStream, error) {
	o, err := arguments(coll, changeStreamFields, opts)
	if err != nil {
		return nil, err
	}
	return watch(ctx, &aggregation{db: coll.db, collection: coll.name, scope: &coll.scope}, pipeline, &o, false)
}

// watch opens a change stream. a has where to watch.
func watch(
	ctx context.Context, a *aggregation, pipeline any, o *options.ChangeStreamOptions, wholeCluster bool,
) (*ChangeStream, error) {
	s := &ChangeStream{client: a.db.client, aggregation: a}
	var err error
	if s.stages, err = a.scope.codec.pipeline(pipeline); err != nil {
		return nil, err
	}
	if err := s.setCommand(o); err != nil {
		return nil, err
	}
	if err := s.setStage(o, wholeCluster); err != nil {
		return nil, err
	}
	if err := s.setStart(o); err != nil {
		return nil, err
	}
	if s.cursor = newCursor(ctx, a.db, a.collection, *a.scope); s.cursor.err != nil {
		return nil, s.cursor.err
	}
	s.cursor.keepsSession = true
	s.cursor.SetBatchSize(valueOr(o.BatchSize, 0))
	s.cursor.SetComment(o.Comment)
	s.cursor.SetMaxAwaitTime(valueOr(o.MaxAwaitTime, 0))
	ctx, cancel := s.client.withTimeout(ctx)
	defer cancel()
	opened := false
	defer func() {
		if !opened { // also if the application's code panics
			s.end()
		}
	}()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	opened = true
	return s, nil
}

// setCommand checks and encodes the options of the aggregate command.
func (s *ChangeStream) setCommand(o *options.ChangeStreamOptions) error {
	if valueOr(o.BatchSize, 0) < 0 {
		return negativeBatchSize("ChangeStreamOptions", *o.BatchSize)
	}
	if err := s.client.checkAwaitTime("ChangeStreamOptions", o.MaxAwaitTime, true); err != nil {
		return err
	}
	x := extras{codec: s.aggregation.scope.codec}
	x.collation(o.Collation)
	x.value("comment", o.Comment)
	x.custom(o.Custom)
	s.aggregation.batchSize, s.aggregation.extras = o.BatchSize, x.b
	return x.err
}

// setStage encodes the options of the stage $changeStream, except those that say where it starts.
func (s *ChangeStream) setStage(o *options.ChangeStreamOptions, wholeCluster bool) error {
	x := extras{codec: s.aggregation.scope.codec}
	if wholeCluster {
		x.boolean("allChangesForCluster", &wholeCluster)
	}
	if o.FullDocument != nil && *o.FullDocument != options.Default {
		x.text("fullDocument", (*string)(o.FullDocument))
	}
	x.text("fullDocumentBeforeChange", (*string)(o.FullDocumentBeforeChange))
	x.boolean("showExpandedEvents", o.ShowExpandedEvents)
	x.custom(o.CustomPipeline)
	s.stage = x.b
	return x.err
}

// setStart encodes where the stream starts. If several of the options are given, the server refuses them.
func (s *ChangeStream) setStart(o *options.ChangeStreamOptions) error {
	x := extras{codec: s.aggregation.scope.codec}
	if o.ResumeAfter != nil {
		x.required("resumeAfter", o.ResumeAfter)
	}
	if o.StartAfter != nil {
		x.required("startAfter", o.StartAfter)
	}
	if o.StartAtOperationTime != nil {
		x.b = appendStartAt(x.b, *o.StartAtOperationTime)
	}
	s.startsAfter, s.startAt, s.start = o.StartAfter != nil, o.StartAtOperationTime, x.b
	if x.err == nil {
		s.token = startToken(x.b)
	}
	return x.err
}

// startToken returns the token of startAfter, or else that of resumeAfter. It is nil if there is none.
func startToken(start []byte) bson.Raw {
	at, doc := wire.BeginDocument(nil)
	doc = wire.EndDocument(append(doc, start...), at)
	for _, key := range []string{"startAfter", "resumeAfter"} {
		if e, ok := element(doc, key); ok {
			return e.Document()
		}
	}
	return nil
}

func appendStartAt(b []byte, t bson.Timestamp) []byte {
	return wire.AppendTimestamp(b, "startAtOperationTime", t.T, t.I)
}
