// Package provematrix runs the counting experiment of `holdfast prove` with the unmodified official driver, a client
// that knows nothing of ours, and compares the verdicts.
package provematrix

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/holdfast-db/holdfast/internal/prove"
)

// Official dials with the official driver. It is a [prove.Dial].
func Official(t prove.Target) (prove.Client, error) {
	client, err := mongo.Connect(prove.ClientOptions(t))
	if err != nil {
		return nil, err
	}
	db := client.Database(t.Database)
	level := readconcern.Majority()
	if t.Standalone {
		level = readconcern.Local()
	}
	return &officialClient{
		client: client,
		coll:   db.Collection(t.Collection),
		audit:  db.Collection(t.Collection, options.Collection().SetReadConcern(level)),
	}, nil
}

type officialClient struct {
	client      *mongo.Client
	coll, audit *mongo.Collection
}

var _ prove.Client = (*officialClient)(nil)

func (c *officialClient) Update(ctx context.Context, u prove.Update) error {
	_, err := c.coll.UpdateOne(ctx, u.Filter, u.Change, options.UpdateOne().SetUpsert(u.Upsert))
	return err
}

func (c *officialClient) Read(ctx context.Context) ([]bson.Raw, error) {
	cursor, err := c.audit.Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var documents []bson.Raw
	err = cursor.All(ctx, &documents)
	return documents, err
}

func (c *officialClient) Run(ctx context.Context, database string, command bson.D) (bson.Raw, error) {
	return c.client.Database(database).RunCommand(ctx, command).Raw()
}

func (c *officialClient) Close(ctx context.Context) error { return c.client.Disconnect(ctx) }

// Judge goes by what the error's type tells any application. That server selection gave up shows in a type of its own,
// which says nothing of earlier attempts; so the claim is left as it is.
func (c *officialClient) Judge(err error) prove.Trouble {
	t := prove.Trouble{Kind: prove.KindOf(err), Claim: prove.ClaimOf(err)}
	var selection topology.ServerSelectionError
	if errors.As(err, &selection) {
		t.Kind = prove.NoServer
	}
	return t
}
