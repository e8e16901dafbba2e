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

// newBatch makes the documents of an InsertMany.
func newBatch() []account {
	batch := make([]account, canned.BatchSize)
	for i := range batch {
		batch[i] = newAccount()
	}
	return batch
}

// checkIDs makes sure that each document of a batch got an _id.
func checkIDs(ids []any) error {
	if len(ids) != canned.BatchSize {
		return fmt.Errorf("%w: %d _ids", errWrongBatch, len(ids))
	}
	if id, ok := ids[len(ids)-1].(bson.ObjectID); !ok || id.IsZero() {
		return fmt.Errorf("%w: the last _id is %v", errWrongBatch, id)
	}
	return nil
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
type client struct{ findOne, insertOne, insertMany, ping operation }

const (
	rawClient      = "raw"
	oursClient     = "ours"
	officialClient = "official"
)

// connectAll returns the three clients, each with at most connections connections to the server.
func connectAll(t *testing.T, server canned.Addresses, connections int) map[string]client {
	t.Helper()
	return map[string]client{
		rawClient:      connectRaw(t, server.Plain, connections),
		oursClient:     connectOurs(t, plainly(server, connections)),
		officialClient: connectOfficial(t, plainly(server, connections)),
	}
}

// transport returns the options of a client that reaches the server in one way.
type transport func(server canned.Addresses, connections int) *options.ClientOptions

func plainly(server canned.Addresses, connections int) *options.ClientOptions {
	return clientOptions(server.Plain, connections)
}

func overTLS(server canned.Addresses, connections int) *options.ClientOptions {
	return clientOptions(server.TLS, connections).SetTLSConfig(server.ClientTLS())
}

func withZstd(server canned.Addresses, connections int) *options.ClientOptions {
	return clientOptions(server.Zstd, connections).SetCompressors([]string{"zstd"})
}

func clientOptions(address string, connections int) *options.ClientOptions {
	n := uint64(connections) //nolint:gosec // a small number
	return options.Client().ApplyURI("mongodb://" + address + "/?replicaSet=canned").SetMaxPoolSize(n)
}

func connectOurs(t *testing.T, o *options.ClientOptions) client {
	t.Helper()
	c, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	return ours(t, c)
}

func ours(t *testing.T, c *mongo.Client) client {
	t.Helper()
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	coll := c.Database(canned.Database).Collection(canned.Collection)
	batch := newBatch()
	imports := c.Database(canned.Database).Collection(canned.Imports)
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
		insertMany: func(ctx context.Context, _ int) error {
			r, err := imports.InsertMany(ctx, batch)
			if err != nil {
				return err
			}
			return checkIDs(r.InsertedIDs)
		},
		ping: func(ctx context.Context, _ int) error { return c.Ping(ctx, nil) },
	}
}

// connectOfficial is connectOurs with one import changed. The two are not one function: a call through an interface or a
// type parameter makes an allocation more than an application's own call does.
func connectOfficial(t *testing.T, o *options.ClientOptions) client {
	t.Helper()
	c, err := official.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	coll := c.Database(canned.Database).Collection(canned.Collection)
	batch := newBatch()
	imports := c.Database(canned.Database).Collection(canned.Imports)
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
		insertMany: func(ctx context.Context, _ int) error {
			r, err := imports.InsertMany(ctx, batch)
			if err != nil {
				return err
			}
			return checkIDs(r.InsertedIDs)
		},
		ping: func(ctx context.Context, _ int) error { return c.Ping(ctx, nil) },
	}
}

// rawConn is the floor: a connection that sends bytes made beforehand and reads the reply's, one write and one read.
type rawConn struct {
	nc                 net.Conn
	find, insert, ping []byte
	in                 []byte
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
		conns[i] = &rawConn{
			nc: nc, find: canned.FindRequest(), insert: canned.InsertRequest(), ping: canned.PingRequest(), in: make([]byte, 4096),
		}
	}
	return client{
		findOne:   func(_ context.Context, worker int) error { return conns[worker].roundTrip(conns[worker].find) },
		insertOne: func(_ context.Context, worker int) error { return conns[worker].roundTrip(conns[worker].insert) },
		ping:      func(_ context.Context, worker int) error { return conns[worker].roundTrip(conns[worker].ping) },
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
