package tail

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongo"
)

// connections is maxPoolSize.
const connections = 100

// findOne is one FindOne with decode.
type findOne func(ctx context.Context) error

// account is what a program reads of the stored document.
type account struct {
	ID    bson.ObjectID `bson:"_id"`
	Email string        `bson:"email"`
	Age   int32         `bson:"age"`
}

var errWrongDocument = errors.New("the document that came back is not the stored one")

func (a *account) check() error {
	if a.ID != canned.ID || a.Email != "ada@example.org" || a.Age != 36 {
		return errWrongDocument
	}
	return nil
}

var byID = bson.D{{Key: "_id", Value: canned.ID}}

// connectBoth returns the FindOne of each driver, on a pool of its own.
func connectBoth(t *testing.T, address string) map[string]findOne {
	t.Helper()
	o := options.Client().ApplyURI("mongodb://" + address + "/?replicaSet=canned").SetMaxPoolSize(connections)
	return map[string]findOne{driver.NameOurs: connectOurs(t, o), driver.NameOfficial: connectOfficial(t, o)}
}

func connectOurs(t *testing.T, o *options.ClientOptions) findOne {
	t.Helper()
	c, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	coll := c.Database(canned.Database).Collection(canned.Collection)
	return func(ctx context.Context) error {
		var a account
		if err := coll.FindOne(ctx, byID).Decode(&a); err != nil {
			return err
		}
		return a.check()
	}
}

// connectOfficial is connectOurs with one import changed. The two are not one function: a call through an interface makes an
// allocation more than an application's own call does.
func connectOfficial(t *testing.T, o *options.ClientOptions) findOne {
	t.Helper()
	c, err := official.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	coll := c.Database(canned.Database).Collection(canned.Collection)
	return func(ctx context.Context) error {
		var a account
		if err := coll.FindOne(ctx, byID).Decode(&a); err != nil {
			return err
		}
		return a.check()
	}
}
