package mongo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// audited is a client on real sockets that must have nothing left when it is disconnected: no connection, no session, no
// goroutine, and no event of the pool without its counterpart.
type audited struct {
	*testing.T
	client *mongo.Client
	coll   *mongo.Collection
	dialer *countingDialer
	mu     sync.Mutex
	pool   map[string]int // events by type
}

func newAudited(t *testing.T, o *options.ClientOptions) *audited {
	t.Helper()
	b := &audited{T: t, pool: map[string]int{}, dialer: &countingDialer{departure: &departure{}, to: &net.Dialer{}}}
	var err error
	b.client, err = mongo.Connect(o.SetDialer(b.dialer).SetMaxPoolSize(10).SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.pool[e.Type]++
	}}))
	if err != nil {
		t.Fatal(err)
	}
	b.coll = b.client.Database("test").Collection("c")
	return b
}

// load runs operations in ten goroutines, each with a deadline or a cancellation at a random moment of the next 30 ms. Their
// errors do not matter.
func (b *audited) load(each int) {
	var running sync.WaitGroup
	for g := range 10 {
		running.Go(func() {
			for i := range each {
				limit := time.Duration(rand.IntN(30_000)) * time.Microsecond
				ctx, cancel := context.WithCancel(context.Background())
				if g%2 == 0 {
					ctx, cancel = context.WithTimeout(context.Background(), limit)
				} else {
					time.AfterFunc(limit, cancel)
				}
				_ = auditedOperations[(g+i)%len(auditedOperations)](ctx, b)
				cancel()
			}
		})
	}
	running.Wait()
}

// auditedOperations are the operations that a client runs.
var auditedOperations = []func(context.Context, *audited) error{
	func(ctx context.Context, b *audited) error { return b.client.Ping(ctx, nil) },
	func(ctx context.Context, b *audited) error {
		_, err := b.coll.InsertOne(ctx, doc("x", 1))
		return err
	},
	func(ctx context.Context, b *audited) error {
		cursor, err := b.coll.Find(ctx, doc(), options.Find().SetBatchSize(2).SetLimit(10))
		if err != nil {
			return err
		}
		return cursor.All(ctx, &[]bson.D{})
	},
	func(ctx context.Context, b *audited) error {
		s, err := b.client.StartSession()
		if err != nil {
			return err
		}
		defer s.EndSession(ctx)
		_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			cursor, err := b.coll.Find(ctx, doc(), options.Find().SetBatchSize(2))
			if err != nil {
				return nil, err
			}
			return nil, cursor.Close(ctx)
		})
		return err
	},
	func(ctx context.Context, b *audited) error {
		stream, err := b.coll.Watch(ctx, bson.A{})
		if err != nil {
			return err
		}
		defer stream.Close(ctx)
		stream.Next(ctx)
		return stream.Err()
	},
	func(ctx context.Context, b *audited) error {
		ctx, end := mongo.WithRequest(ctx)
		defer end()
		return b.coll.FindOne(ctx, doc()).Err()
	},
}

// disconnect disconnects the client in the middle of operations without a deadline, and checks that nothing is left.
func (b *audited) disconnect() {
	var running sync.WaitGroup
	for i := range 20 {
		running.Go(func() {
			for err := error(nil); !errors.Is(err, mongo.ErrClientDisconnected); {
				err = auditedOperations[i%len(auditedOperations)](context.Background(), b)
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(20))*time.Millisecond)
	defer cancel()
	if err := b.client.Disconnect(ctx); err != nil {
		b.Error(err)
	}
	running.Wait()
	for until := time.Now().Add(time.Minute); time.Now().Before(until) && goroutinesOfTheClient() != ""; {
		<-time.After(time.Millisecond)
	}
	if left := goroutinesOfTheClient(); left != "" {
		b.Errorf("goroutines are left:\n%s", left)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	began, out, failed := b.pool[event.ConnectionCheckOutStarted], b.pool[event.ConnectionCheckedOut], b.pool[event.ConnectionCheckOutFailed]
	if open, sessions := b.dialer.open.Load(), b.client.NumberSessionsInProgress(); open != 0 || sessions != 0 ||
		b.pool[event.ConnectionCreated] != b.pool[event.ConnectionClosed] || out != b.pool[event.ConnectionCheckedIn] || began != out+failed {
		b.Errorf("%d connections and %d sessions are left; events %v", open, sessions, b.pool)
	}
}

// trouble is a random fault of one message in six.
func trouble(*mongotest.Request) mongotest.Fault {
	switch rand.IntN(36) {
	case 0:
		return mongotest.Fault{LoseRequest: true}
	case 1:
		return mongotest.Fault{LoseReply: true, CutReplyAfter: rand.IntN(60)}
	case 2:
		return mongotest.Fault{LoseReply: true, Silent: true}
	case 3:
		return refuse(91)
	case 4:
		return refuse(462, "SystemOverloadedError", "RetryableError")
	case 5:
		return mongotest.Fault{Delay: time.Duration(rand.IntN(30)) * time.Millisecond}
	}
	return mongotest.Fault{}
}

func TestOperationsCancelledAtAnyMomentLeaveNothingOnTCP(t *testing.T) {
	user := mongotest.Users(mongotest.User{Name: "u", Password: "p"})
	for name, run := range map[string]func() *mongotest.Deployment{
		"replica set":     func() *mongotest.Deployment { return mongotest.RunReplicaSetT(t, 3, user) },
		"sharded cluster": func() *mongotest.Deployment { return mongotest.RunShardedT(t, 1, 2, user) },
		"load balancer":   func() *mongotest.Deployment { return mongotest.RunShardedT(t, 1, 2, user, mongotest.LoadBalancer()) },
		"load balancer, behind TLS": func() *mongotest.Deployment {
			return mongotest.RunShardedT(t, 1, 2, user, mongotest.LoadBalancer(), mongotest.TLS())
		},
		"replica set whose servers speak TLS": func() *mongotest.Deployment { return mongotest.RunReplicaSetT(t, 3, user, mongotest.TLS()) },
	} {
		t.Run(name, func(t *testing.T) {
			set := run()
			o := options.Client().ApplyURI(set.URI()).SetAuth(options.Credential{Username: "u", Password: "p"})
			if secure, err := set.ClientTLS(); err != nil {
				t.Fatal(err)
			} else if secure != nil {
				o.SetTLSConfig(secure)
			}
			b := newAudited(t, o)
			b.load(8)
			set.Use(mongotest.AnyCommand, mongotest.Decide(trouble))
			b.load(8)
			b.disconnect()
		})
	}
}

// garbled are the wrong replies, as a server or a network that is broken may send them. A false result closes the connection.
var garbled = map[string]func(to net.Conn, reply []byte) bool{
	"byte by byte": func(to net.Conn, reply []byte) bool {
		for i := range reply {
			if _, err := to.Write(reply[i : i+1]); err != nil {
				return false
			}
		}
		return true
	},
	"cut off": func(to net.Conn, reply []byte) bool {
		_, _ = to.Write(reply[:rand.IntN(len(reply))])
		return false
	},
	"twice": func(to net.Conn, reply []byte) bool {
		_, err := to.Write(append(reply, reply...))
		return err == nil
	},
	"with a wrong length": replaced(0, 0, 1, 0x7fffffff, 0xffffffff, 47_000_000),
	"to another message":  replaced(8, 0, 17, 0xffffffff),
	"of another opcode":   replaced(12, 0, 1, 2004, 2012, 99),
	"with other flags":    replaced(16, 1, 2, 0xffffffff),
	"with a wrong size":   replaced(20, 0, 5, 0xffffffff, 48_000_000), // of the document, or of the compressed message
	"with wrong bytes": func(to net.Conn, reply []byte) bool {
		for range 3 {
			reply[rand.IntN(len(reply))] = byte(rand.Uint32())
		}
		_, err := to.Write(reply)
		return err == nil
	},
}

// replaced sends replies with another number at an offset.
func replaced(at int, values ...uint32) func(net.Conn, []byte) bool {
	return func(to net.Conn, reply []byte) bool {
		binary.LittleEndian.PutUint32(reply[at:], values[rand.IntN(len(values))])
		_, err := to.Write(reply)
		return err == nil
	}
}

// garbling forwards a connection to a server, and garbles one reply in three.
func garbling(client net.Conn, address string, garble func(net.Conn, []byte) bool) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	for {
		reply, err := wire.ReadMessage(server, nil, wire.MaxMessageLength)
		switch {
		case err != nil:
			return
		case rand.IntN(3) > 0:
			_, err = client.Write(reply)
			if err != nil {
				return
			}
		case !garble(client, reply):
			return
		}
	}
}

func TestGarbledRepliesLeaveNothingOnTCP(t *testing.T) {
	set := mongotest.RunStandaloneT(t)
	for name, garble := range garbled {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var proxy sync.WaitGroup
			defer proxy.Wait()
			defer l.Close()
			proxy.Go(func() {
				for {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					proxy.Go(func() { garbling(nc, set.Addr(), garble) })
				}
			})
			b := newAudited(t, options.Client().ApplyURI("mongodb://"+l.Addr().String()+"/?directConnection=true&compressors=snappy,zlib,zstd"))
			b.load(4)
			b.disconnect()
		})
	}
}
