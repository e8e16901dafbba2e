package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var listDatabasesFields = supported("NameOnly", "AuthorizedDatabases")

// ListDatabases returns the databases that match the filter. It is a retryable read on the primary.
func (c *Client) ListDatabases(
	ctx context.Context, filter any, opts ...options.Lister[options.ListDatabasesOptions],
) (ListDatabasesResult, error) {
	o, err := collect(listDatabasesFields, opts)
	if err != nil {
		return ListDatabasesResult{}, err
	}
	return c.listDatabases(ctx, filter, &o)
}

// ListDatabaseNames returns the names of the databases that match the filter. It is a retryable read on the primary.
func (c *Client) ListDatabaseNames(
	ctx context.Context, filter any, opts ...options.Lister[options.ListDatabasesOptions],
) ([]string, error) {
	o, err := collect(listDatabasesFields, opts)
	if err != nil {
		return nil, err
	}
	nameOnly := true
	o.NameOnly = &nameOnly
	found, err := c.listDatabases(ctx, filter, &o)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(found.Databases))
	for i, database := range found.Databases {
		names[i] = database.Name
	}
	return names, nil
}

func (c *Client) listDatabases(
	ctx context.Context, filter any, o *options.ListDatabasesOptions,
) (ListDatabasesResult, error) {
	var result ListDatabasesResult
	x := extras{b: wire.AppendInt32(nil, "listDatabases", 1), codec: c.scope.codec}
	x.required("filter", filter)
	x.boolean("nameOnly", o.NameOnly)
	x.boolean("authorizedDatabases", o.AuthorizedDatabases)
	if x.err != nil {
		return result, x.err
	}
	var op operation.Operation
	c.readPrimary(&op, "admin", "", "listDatabases", &plainCommand{elements: x.b, accept: func(reply *operation.Reply) error {
		var err error
		result, err = databasesIn(reply)
		return err
	}})
	if err := c.run(ctx, &op); err != nil {
		return ListDatabasesResult{}, err
	}
	return result, nil
}

func databasesIn(reply *operation.Reply) (ListDatabasesResult, error) {
	var r struct {
		Databases []struct {
			Name       string `bson:"name"`
			SizeOnDisk int64  `bson:"sizeOnDisk"`
			Empty      bool   `bson:"empty"`
		} `bson:"databases"`
		TotalSize int64 `bson:"totalSize"`
	}
	if err := bson.Unmarshal(reply.Body, &r); err != nil {
		return ListDatabasesResult{}, fmt.Errorf("mongo: the server's reply to listDatabases: %w", err)
	}
	result := ListDatabasesResult{Databases: make([]DatabaseSpecification, len(r.Databases)), TotalSize: r.TotalSize}
	for i, database := range r.Databases {
		result.Databases[i] = DatabaseSpecification(database)
	}
	return result, nil
}
