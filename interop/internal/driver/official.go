package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type officialClient struct{ *mongo.Client }

func connectOfficial(o *options.ClientOptions) (Client, error) {
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	return officialClient{c}, nil
}

func (c officialClient) Ping(ctx context.Context) error {
	return c.Database("admin").RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

func (c officialClient) Database(name string) NativeDatabase {
	return nativeDatabase[*mongo.SingleResult, *mongo.Cursor, *mongo.Collection]{c.Client.Database(name)}
}

func (c officialClient) Collection(database, name string) Collection {
	return collection{c.Database(database).Collection(name)}
}
