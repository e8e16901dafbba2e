package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var databaseOperations = map[string]function[*mongoDatabase]{
	"aggregate":             aggregateDatabase,
	"createChangeStream":    watchDatabase,
	"createCollection":      createCollection,
	"createCommandCursor":   createCommandCursor,
	"dropCollection":        dropCollection,
	"listCollectionNames":   listCollectionNames,
	"listCollectionObjects": listCollectionObjects,
	"listCollections":       listCollections,
	"modifyCollection":      modifyCollection,
	"runCommand":            runCommand,
	"runCursorCommand":      runCursorCommand,
}

func aggregateDatabase(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	pipeline, opts := a.native("pipeline"), options.Aggregate()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return all(ctx)(db.Aggregate(ctx, pipeline, opts))
}

func watchDatabase(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	pipeline, opts := a.native("pipeline"), options.ChangeStream()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return streamOf(db.Watch(ctx, pipeline, opts))
}

func createCollection(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	name, viewOn := a.text("collection"), a.optional("viewOn")
	if on, isView := viewOn.StringValueOK(); isView {
		pipeline, opts := bson.A{}, options.CreateView()
		if v := a.optional("pipeline"); v.Type != 0 {
			n, err := native(v)
			if err != nil {
				return nil, &refusal{err}
			}
			pipeline, _ = n.(bson.A)
		}
		if err := a.rest(opts); err != nil {
			return nil, err
		}
		return db.Collection(name), db.CreateView(ctx, name, on, pipeline, opts)
	}
	opts := options.CreateCollection()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return db.Collection(name), db.CreateCollection(ctx, name, opts)
}

func dropCollection(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	name, opts := a.text("collection"), options.DropCollection()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return nil, db.Collection(name).Drop(ctx, opts)
}

func listCollections(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	filter, opts := filterOf(a), options.ListCollections()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return all(ctx)(db.ListCollections(ctx, filter, opts))
}

func listCollectionNames(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	filter, opts := filterOf(a), options.ListCollections()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return db.ListCollectionNames(ctx, filter, opts)
}

func listCollectionObjects(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	filter, opts := filterOf(a), options.ListCollections()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	found, err := db.ListCollectionSpecifications(ctx, filter, opts)
	result := bson.A{}
	for _, c := range found {
		result = append(result, bson.D{{Key: "name", Value: c.Name}, {Key: "type", Value: c.Type}, {Key: "options", Value: c.Options}})
	}
	return result, err
}

// modifyCollection runs the command, for which clients have no method.
func modifyCollection(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	command := bson.D{{Key: "collMod", Value: a.text("collection")}}
	for _, e := range a.left {
		command = append(command, bson.E{Key: e.Key(), Value: e.Value()})
	}
	if a.err != nil {
		return nil, a.err
	}
	return nil, db.RunCommand(ctx, command).Err()
}

func runCommand(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	command, opts := a.document("command"), options.RunCmd()
	a.text("commandName")
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return document(db.RunCommand(ctx, command, opts))
}

func runCursorCommand(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	cursor, err := commandCursor(ctx, db, a)
	return all(ctx)(cursor, err)
}

func createCommandCursor(ctx context.Context, db *mongoDatabase, a *arguments) (any, error) {
	return cursorOf(commandCursor(ctx, db, a))
}

func commandCursor(ctx context.Context, db *mongoDatabase, a *arguments) (*mongoCursor, error) {
	command, opts := a.document("command"), options.RunCmd()
	a.text("commandName")
	ofCursor := map[string]bson.RawValue{ // options of the cursor, where the others are of the command
		"batchSize": a.optional("batchSize"), "maxAwaitTimeMS": a.optional("maxTimeMS"), "comment": a.optional("comment"),
	}
	a.optional("cursorType") // the command says it to the server, and the client sends getMore in any case
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	cursor, err := db.RunCommandCursor(ctx, command, opts)
	if err != nil {
		return nil, err
	}
	for name, v := range ofCursor {
		if v.Type == 0 {
			continue
		}
		if err := a.run.runner.set(cursor, name, v); err != nil {
			return nil, refuse("%s: %w", name, err)
		}
	}
	return cursor, nil
}
