package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// failPoint sets one on the server that the entity's own client selects.
func failPoint(ctx context.Context, c *run, a *arguments) (any, error) {
	client, command := taken[*clientEntity](a, "client"), a.document("failPoint")
	a.optional("session") // some files give one, which the operation does not know
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	if err := configure(ctx, client.mongoClient, command); err != nil {
		return nil, err
	}
	c.points = append(c.points, func(ctx context.Context) error {
		return configure(ctx, c.internal, off(command))
	})
	return nil, nil
}

// targetedFailPoint sets one on the mongos to which a session is pinned.
func targetedFailPoint(ctx context.Context, c *run, a *arguments) (any, error) {
	session, command := taken[*mongoSession](a, "session"), a.document("failPoint")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	address := mongoSessionState(session).pinned
	if address == "" {
		return nil, refuse("the session is not pinned to a mongos")
	}
	if err := c.configureAt(ctx, address, command); err != nil {
		return nil, err
	}
	c.points = append(c.points, func(ctx context.Context) error {
		return c.configureAt(ctx, address, off(command))
	})
	return nil, nil
}

func (c *run) configureAt(ctx context.Context, address string, command bson.Raw) error {
	opts := options.Client().ApplyURI(c.runner.Deployment.SingleURI())
	c.runner.Deployment.Configure(opts)
	opts.SetHosts([]string{address}).SetDirect(true)
	opts.ReplicaSet = nil
	client, err := mongoConnect(opts)
	if err != nil {
		return err
	}
	defer client.Disconnect(ctx) //nolint:errcheck // it has done its work
	return configure(ctx, client, command)
}

func configure(ctx context.Context, client *mongoClient, command bson.Raw) error {
	return client.Database("admin").RunCommand(ctx, command, options.RunCmd().SetReadPreference(readpref.Primary())).Err()
}

func off(command bson.Raw) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "configureFailPoint", Value: command.Lookup("configureFailPoint")}, {Key: "mode", Value: "off"}})
	if err != nil {
		return command
	}
	return raw
}
