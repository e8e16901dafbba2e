// Package provematrix runs the counting experiment of `holdfast prove` with the unmodified official driver, a client
// that knows nothing of ours, and compares the verdicts.
package provematrix

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// Official dials with the official driver. It is a [prove.Dial].
func Official(t prove.Target) (prove.Client, error) {
	client, err := mongo.Connect(prove.ClientOptions(t))
	if err != nil {
		return nil, err
	}
	db := client.Database(t.Database)
	return &officialClient{
		client: client,
		Collections: prove.Collections[*mongo.Cursor]{
			Written: db.Collection(t.Collection),
			Audit:   db.Collection(t.Collection, prove.AuditOptions(t)),
		},
	}, nil
}

type officialClient struct {
	prove.Collections[*mongo.Cursor]
	client *mongo.Client
}

var _ prove.Client = (*officialClient)(nil)

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
