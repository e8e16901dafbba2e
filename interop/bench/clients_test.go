package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/mongo"
)

// account is the document of six fields and some hundred bytes. Without an ID, an insert makes one, as in most programs.
type account struct {
	ID      bson.ObjectID `bson:"_id,omitempty"`
	Name    string        `bson:"name"`
	Email   string        `bson:"email"`
	Age     int32         `bson:"age"`
	Balance float64       `bson:"balance"`
	Created time.Time     `bson:"created"`
}

func newAccount() account {
	return account{
		Name: "Ada Lovelace", Email: "ada@example.org", Age: 36, Balance: 1815.5, Created: time.UnixMilli(1_750_000_000_000),
	}
}

var errWrongDocument = errors.New("the document that came back is not the stored one")

// check makes sure that a client decoded what it was sent: it would be quick work not to.
func (a *account) check() error {
	if a.ID != canned.ID || a.Email != "ada@example.org" || a.Age != 36 || a.Balance != 1815.5 {
		return fmt.Errorf("%w: %+v", errWrongDocument, *a)
	}
	return nil
}

// operation is one operation of one client. worker says which of the concurrent ones asks.
type operation func(ctx context.Context, worker int) error

// client is one of those that are compared.
type client struct{ findOne, insertOne operation }

const (
	rawClient      = "raw"
	oursClient     = "ours"
	officialClient = "official"
)

// connectAll returns the three clients, each with at most connections connections to the server at address.
func connectAll(t *testing.T, address string, connections int) map[string]client {
	t.Helper()
	return map[string]client{
		rawClient:      connectRaw(t, address, connections),
		oursClient:     connectOurs(t, address, connections),
		officialClient: connectOfficial(t, address, connections),
	}
}

func clientOptions(address string, connections int) *options.ClientOptions {
	n := uint64(connections) //nolint:gosec // a small number
	return options.Client().ApplyURI("mongodb://" + address + "/?replicaSet=canned").SetMaxPoolSize(n)
}

func connectOurs(t *testing.T, address string, connections int) client {
	t.Helper()
	c, err := mongo.Connect(clientOptions(address, connections))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	coll := c.Database(canned.Database).Collection(canned.Collection)
	return client{
		findOne: func(ctx context.Context, _ int) error {
			var a account
			if err := coll.FindOne(ctx, bson.D{{Key: "_id", Value: canned.ID}}).Decode(&a); err != nil {
				return err
			}
			return a.check()
		},
		insertOne: func(ctx context.Context, _ int) error {
			_, err := coll.InsertOne(ctx, newAccount())
			return err
		},
	}
}

// connectOfficial is connectOurs with one import changed. The two are not one function: a call through an interface or a
// type parameter makes an allocation more than an application's own call does.
func connectOfficial(t *testing.T, address string, connections int) client {
	t.Helper()
	c, err := official.Connect(clientOptions(address, connections))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	coll := c.Database(canned.Database).Collection(canned.Collection)
	return client{
		findOne: func(ctx context.Context, _ int) error {
			var a account
			if err := coll.FindOne(ctx, bson.D{{Key: "_id", Value: canned.ID}}).Decode(&a); err != nil {
				return err
			}
			return a.check()
		},
		insertOne: func(ctx context.Context, _ int) error {
			_, err := coll.InsertOne(ctx, newAccount())
			return err
		},
	}
}

// rawConn is the floor: a connection that sends bytes made beforehand and reads the reply's, one write and one read.
type rawConn struct {
	nc           net.Conn
	find, insert []byte
	in           []byte
}

func connectRaw(t *testing.T, address string, connections int) client {
	t.Helper()
	conns := make([]*rawConn, connections)
	for i := range conns {
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nc.Close() })
		conns[i] = &rawConn{nc: nc, find: canned.FindRequest(), insert: canned.InsertRequest(), in: make([]byte, 4096)}
	}
	return client{
		findOne:   func(_ context.Context, worker int) error { return conns[worker].roundTrip(conns[worker].find) },
		insertOne: func(_ context.Context, worker int) error { return conns[worker].roundTrip(conns[worker].insert) },
	}
}

func (c *rawConn) roundTrip(request []byte) error {
	if _, err := c.nc.Write(request); err != nil {
		return err
	}
	for got, length := 0, 4; got < length; {
		n, err := c.nc.Read(c.in[got:])
		if err != nil {
			return err
		}
		if got += n; got >= 4 {
			length = int(binary.LittleEndian.Uint32(c.in))
		}
	}
	return nil
}
