package situations

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var updatesOne = changes("UpdateOne", func(ctx context.Context, w *world) error {
	_, err := w.coll.UpdateOne(ctx, byID, inc)
	return err
})

// command runs a command on a database.
func command(database string, elements ...bson.E) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		return w.client.Database(database).RunCommand(ctx, bson.D(elements)).Err()
	}
}

// dataChanges are those of which a change stream has events.
var dataChanges = []streamStep{
	changes("InsertMany", func(ctx context.Context, w *world) error {
		_, err := w.coll.InsertMany(ctx, []any{bson.D{{Key: "_id", Value: 10}}, bson.D{{Key: "_id", Value: 11}}})
		return err
	}),
	updatesOne,
	changes("UpdateOne of several fields", func(ctx context.Context, w *world) error {
		_, err := w.coll.UpdateOne(ctx, byID, bson.D{
			{Key: "$set", Value: bson.D{{Key: "a.b", Value: bson.A{1, 2}}}}, {Key: "$unset", Value: bson.D{{Key: "n", Value: ""}}},
		})
		return err
	}),
	changes("ReplaceOne", func(ctx context.Context, w *world) error {
		_, err := w.coll.ReplaceOne(ctx, byID, x)
		return err
	}),
	changes("DeleteMany", func(ctx context.Context, w *world) error {
		_, err := w.coll.DeleteMany(ctx, none)
		return err
	}),
	changes("an update, then a delete", func(ctx context.Context, w *world) error {
		if _, err := w.coll.UpdateOne(ctx, byID, inc); err != nil {
			return err
		}
		_, err := w.coll.DeleteOne(ctx, byID)
		return err
	}),
	changes("Drop", func(ctx context.Context, w *world) error { return w.coll.Drop(ctx) }),
	changes("Database.Drop", func(ctx context.Context, w *world) error { return w.db.Drop(ctx) }),
	changes("renameCollection", command("admin", bson.E{Key: "renameCollection", Value: "db.c"}, bson.E{Key: "to", Value: "db.other"})),
	changes("CreateCollection", func(ctx context.Context, w *world) error { return w.db.CreateCollection(ctx, "created") }),
	changes("an index is created and dropped", func(ctx context.Context, w *world) error {
		if _, err := w.coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: x}); err != nil {
			return err
		}
		return w.coll.Indexes().DropOne(ctx, "x_1")
	}),
	changes("collMod", command("db", bson.E{Key: "collMod", Value: "c"}, bson.E{Key: "validator", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: -1}}}}})),
	changes("a transaction", func(ctx context.Context, w *world) error {
		session, err := w.client.StartSession()
		if err != nil {
			return err
		}
		defer session.EndSession(ctx)
		ctx = context.WithoutCancel(ctx)
		_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			if _, err := w.coll.InsertOne(ctx, fresh); err != nil {
				return nil, err
			}
			return w.coll.UpdateOne(ctx, byID, inc)
		})
		return err
	}),
}

// keepsImages makes the collection keep the documents before and after each change.
var keepsImages = command("db", bson.E{Key: "collMod", Value: "c"}, bson.E{Key: "changeStreamPreAndPostImages", Value: bson.D{{Key: "enabled", Value: true}}})

// imageOptions are those that say what an event has.
var imageOptions = []struct {
	name    string
	prepare func(context.Context, *world) error
	set     func(*options.ChangeStreamOptionsBuilder)
}{
	{"without options", nil, func(*options.ChangeStreamOptionsBuilder) {}},
	{"expanded events", nil, func(o *options.ChangeStreamOptionsBuilder) { o.SetShowExpandedEvents(true) }},
	{"updateLookup", nil, func(o *options.ChangeStreamOptionsBuilder) { o.SetFullDocument(options.UpdateLookup) }},
	{"required images that there are not", nil, func(o *options.ChangeStreamOptionsBuilder) {
		o.SetFullDocument(options.Required).SetFullDocumentBeforeChange(options.Required)
	}},
	{"required images", keepsImages, func(o *options.ChangeStreamOptionsBuilder) {
		o.SetFullDocument(options.Required).SetFullDocumentBeforeChange(options.Required)
	}},
	{"images, if there are any", nil, func(o *options.ChangeStreamOptionsBuilder) {
		o.SetFullDocument(options.WhenAvailable).SetFullDocumentBeforeChange(options.WhenAvailable)
	}},
}

// streamEvents have each kind of event in each scope.
func streamEvents() []streaming {
	var list []streaming
	for _, scope := range scopes {
		for _, images := range imageOptions {
			for _, change := range dataChanges {
				list = append(list, streaming{
					name: scope.name + ", " + images.name, open: scope.open, prepare: images.prepare,
					options: func(*world) *options.ChangeStreamOptionsBuilder {
						o := options.ChangeStream()
						images.set(o)
						return o
					},
					steps: afterStart(change, tries, tries, tries, tries, asksID, inserts(30), tries, asksErr, closesStream, asksErr),
				})
			}
		}
	}
	return append(list, splitEvents()...)
}

// splitEvents have an event that is larger than a document may be, with and without the stage that splits it.
func splitEvents() []streaming {
	long := func(letter string) bson.D { return bson.D{{Key: "text", Value: strings.Repeat(letter, 9<<20)}} }
	shape := streamStep{"the fields of the event", func(ctx context.Context, w *watched) any {
		has := w.TryNext(ctx)
		split, _ := w.Current.Lookup("splitEvent").DocumentOK()
		elements, _ := w.Current.Elements()
		names := make([]string, len(elements))
		for i, e := range elements {
			names[i] = e.Key()
		}
		return []any{has, names, show(split), describe(w.Err()), w.newToken()}
	}}
	large := changes("a large document is replaced", func(ctx context.Context, w *world) error {
		if _, err := w.coll.ReplaceOne(ctx, byID, long("a")); err != nil {
			return err
		}
		_, err := w.coll.ReplaceOne(ctx, byID, long("b"))
		return err
	})
	var list []streaming
	for name, pipeline := range map[string]mongo.Pipeline{
		"a large event": {}, "a large event that is split": {{{Key: "$changeStreamSplitLargeEvent", Value: bson.D{}}}},
	} {
		list = append(list, streaming{
			name: name, prepare: keepsImages, pipeline: pipeline,
			options: func(*world) *options.ChangeStreamOptionsBuilder {
				return options.ChangeStream().SetFullDocumentBeforeChange(options.Required)
			},
			steps: afterStart(large, shape, shape, losesCursor, shape, shape, shape, asksErr),
		})
	}
	return list
}

// streamPipelines filter events and change them, the resume token too.
func streamPipelines() []streaming {
	stage := func(name string, value any) bson.D { return bson.D{{Key: name, Value: value}} }
	var list []streaming
	for _, c := range []struct {
		name     string
		pipeline any
	}{
		{"a filter that keeps some events", mongo.Pipeline{stage("$match", stage("documentKey._id", int32(11)))}},
		{"a filter that keeps no event", mongo.Pipeline{stage("$match", stage("operationType", "none"))}},
		{"a projection that keeps the token", mongo.Pipeline{stage("$project", stage("documentKey", 1))}},
		{"a projection that drops the token", mongo.Pipeline{stage("$project", stage("_id", 0))}},
		{"a stage that changes the token", mongo.Pipeline{stage("$addFields", stage("_id", "text"))}},
		{"a stage that puts a document for the token", mongo.Pipeline{stage("$addFields", stage("_id", stage("a", 1)))}},
		{"a stage that unsets the token", mongo.Pipeline{stage("$unset", "_id")}},
		{"a stage that drops the token of some events", mongo.Pipeline{stage("$replaceRoot", stage("newRoot", stage("$cond", bson.A{
			stage("$eq", bson.A{"$documentKey._id", int32(11)}), stage("none", 1), "$$ROOT",
		})))}},
		{"a stage that there is not", mongo.Pipeline{stage("$nonsense", 1)}},
		{"a stage that is not permitted", mongo.Pipeline{stage("$group", stage("_id", 1))}},
		{"another $changeStream", mongo.Pipeline{stage("$changeStream", none)}},
		{"a slice of any", []any{stage("$match", none), bson.M{"$match": bson.M{}}}},
		{"a bson.A", bson.A{stage("$match", none)}},
	} {
		list = append(list,
			streaming{name: c.name, pipeline: c.pipeline, steps: []streamStep{inserts(int32(10), int32(11), int32(12)), tries, tries, tries, tries, asksErr, asksID, tries, closesStream, asksErr}},
			streaming{name: c.name, pipeline: c.pipeline, steps: []streamStep{inserts(int32(10), int32(11), int32(12)), moves, moves, asksErr, decodesEvent, asksCurrent, asksToken}})
	}
	return list
}

// streamTargets decode events into odd targets.
func streamTargets() []streaming {
	type event struct {
		Operation string `bson:"operationType"`
		Key       bson.D `bson:"documentKey"`
	}
	var list []streaming
	for _, c := range []struct {
		name   string
		target func() any
	}{
		{"Decode to nil", func() any { return nil }},
		{"Decode to a nil pointer", func() any { return (*bson.D)(nil) }},
		{"Decode to a document that is no pointer", func() any { return bson.D{} }},
		{"Decode to a number", func() any { return 7 }},
		{"Decode to a pointer to a number", func() any { return new(int) }},
		{"Decode to a text", func() any { return new(string) }},
		{"Decode to any", func() any { return new(any) }},
		{"Decode to a map", func() any { return new(bson.M) }},
		{"Decode to a raw document", func() any { return new(bson.Raw) }},
		{"Decode to a struct", func() any { return new(event) }},
		{"Decode to an array", func() any { return new([]int) }},
		{"Decode to a map of texts", func() any { return new(map[string]string) }},
		{"Decode to a function", func() any { return new(func()) }},
	} {
		decode := decodesTo(c.name, c.target)
		list = append(list,
			streaming{name: "before an event", steps: []streamStep{decode}},
			streaming{name: "at an event", steps: []streamStep{inserts(10), moves, decode, asksErr, decodesEvent}},
			streaming{name: "after an event", steps: afterStart(tries, decode)},
			streaming{name: "after Close", steps: []streamStep{inserts(10), moves, closesStream, decode, asksErr}})
	}
	return list
}
