package unified

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var clientOperations = map[string]function[*clientEntity]{
	"appendMetadata":      appendMetadata,
	"clientBulkWrite":     clientBulkWrite,
	"close":               closeClient,
	"createChangeStream":  watchClient,
	"dropDatabase":        dropDatabase,
	"listDatabases":       listDatabases,
	"listDatabaseNames":   listDatabaseNames,
	"listDatabaseObjects": listDatabaseObjects,
}

func closeClient(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, c.Disconnect(ctx)
}

func dropDatabase(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	name := a.text("database")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, c.Database(name).Drop(ctx)
}

func appendMetadata(_ context.Context, c *clientEntity, a *arguments) (any, error) {
	doc := a.document("driverInfoOptions")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	info, err := structOf[struct {
		Name     string `bson:"name"`
		Version  string `bson:"version"`
		Platform string `bson:"platform"`
	}](documentValue(doc))
	if err != nil {
		return nil, &refusal{err}
	}
	return nil, mongoAppendDriverInfo(c.mongoClient, options.DriverInfo{Name: info.Name, Version: info.Version, Platform: info.Platform})
}

func watchClient(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	pipeline, opts := a.native("pipeline"), options.ChangeStream()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return streamOf(c.Watch(ctx, pipeline, opts))
}

func listDatabases(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	filter, opts := filterOf(a), options.ListDatabases()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	found, err := c.ListDatabases(ctx, filter, opts)
	result := bson.A{}
	for _, d := range found.Databases {
		result = append(result, bson.D{{Key: "name", Value: d.Name}, {Key: "sizeOnDisk", Value: d.SizeOnDisk}, {Key: "empty", Value: d.Empty}})
	}
	return result, err
}

func listDatabaseNames(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	filter, opts := filterOf(a), options.ListDatabases()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return c.ListDatabaseNames(ctx, filter, opts)
}

// listDatabaseObjects returns the databases as a program in Go gets them.
func listDatabaseObjects(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	names, err := listDatabaseNames(ctx, c, a)
	if err != nil {
		return nil, err
	}
	var found []*mongoDatabase
	for _, name := range names.([]string) {
		found = append(found, c.Database(name))
	}
	return found, nil
}

// filterOf takes a filter that may be missing.
func filterOf(a *arguments) any {
	v := a.optional("filter")
	if v.Type == 0 {
		return bson.D{}
	}
	n, err := native(v)
	if err != nil {
		a.fail("filter: %w", err)
	}
	return n
}

func clientBulkWrite(ctx context.Context, c *clientEntity, a *arguments) (any, error) {
	writes, opts := clientModels(a), options.ClientBulkWrite()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	result, err := c.BulkWrite(ctx, writes, opts)
	if err != nil { // the error holds the results of the operations before it, if there are any
		var failed mongoClientBulkError
		result = nil
		if errors.As(err, &failed) {
			result = failed.PartialResult
		}
	}
	return made(result, clientBulkResult), err
}
