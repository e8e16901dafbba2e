package prove

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/retry"
)

// Default returns the dial function of this module's client.
func Default() Dial {
	return func(t Target) (Client, error) {
		client, err := mongo.Connect(ClientOptions(t))
		if err != nil {
			return nil, err
		}
		db := client.Database(t.Database)
		return &holdfastClient{
			client: client,
			Collections: Collections[*mongo.Cursor]{
				Written: db.Collection(t.Collection),
				Audit:   db.Collection(t.Collection, AuditOptions(t)),
			},
		}, nil
	}
}

// ClientOptions returns the official options for a target, for any driver that accepts them. The experiment's
// timeouts, retries, concerns and read preference replace those of the URI.
func ClientOptions(t Target) *options.ClientOptions {
	o := options.Client().ApplyURI(t.URI).
		SetServerSelectionTimeout(t.Timing.ServerSelection).
		SetConnectTimeout(t.Timing.Connect).
		SetHeartbeatInterval(t.Timing.Heartbeat).
		SetServerMonitoringMode("poll").
		SetRetryWrites(t.RetryWrites).
		SetRetryReads(true).
		SetReadPreference(readpref.Primary()).
		SetTimeout(0)
	if t.W == One {
		o.SetWriteConcern(writeconcern.W1())
	} else {
		o.SetWriteConcern(writeconcern.Majority())
	}
	if t.Dialer != nil {
		o.SetDialer(t.Dialer)
	}
	if t.Monitor != nil {
		o.SetMonitor(t.Monitor)
	}
	return o
}

type holdfastClient struct {
	Collections[*mongo.Cursor]
	client *mongo.Client
}

var _ Client = (*holdfastClient)(nil)

func (c *holdfastClient) Run(ctx context.Context, database string, command bson.D) (bson.Raw, error) {
	return c.client.Database(database).RunCommand(ctx, command).Raw()
}

func (c *holdfastClient) Close(ctx context.Context) error { return c.client.Disconnect(ctx) }

// Judge uses the official error types and, for the claim, the history of the attempts.
func (c *holdfastClient) Judge(err error) Trouble {
	t := Trouble{Kind: KindOf(err), Claim: ClaimOf(err)}
	var history *retry.Error
	if errors.As(err, &history) {
		t.Claim = NotApplied
		if history.MayHaveApplied() {
			t.Claim = Unknown
		}
	}
	return t
}
