package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// ourClient is officialClient with one import changed, as a migration would.
type ourClient struct{ *mongo.Client }

func connectOurs(o *options.ClientOptions) (Client, error) {
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	return ourClient{c}, nil
}

// OpenOurs connects our client with settings that the official options lack.
func OpenOurs(uri string, cfg mongo.Config, o *options.ClientOptions) (Client, error) {
	c, err := mongo.Open(uri, cfg, o)
	if err != nil {
		return nil, err
	}
	return ourClient{c}, nil
}

func (c ourClient) Ping(ctx context.Context) error {
	return c.Database("admin").RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

func (c ourClient) Database(name string) NativeDatabase {
	return nativeDatabase[*mongo.SingleResult, *mongo.Cursor, *mongo.Collection]{c.Client.Database(name)}
}

func (c ourClient) Collection(database, name string) Collection {
	return collection{c.Database(database).Collection(name)}
}
