package router_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

var crowd = flag.Int("crowd", 300, "clients of the figure router-server-connections")

// counted counts the connections that a dialer has open.
type counted struct {
	options.ContextDialer
	open, peak atomic.Int64
}

func (c *counted) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.ContextDialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	n := c.open.Add(1)
	for peak := c.peak.Load(); n > peak && !c.peak.CompareAndSwap(peak, n); peak = c.peak.Load() {
	}
	return &countedConn{Conn: conn, close: sync.OnceFunc(func() { c.open.Add(-1) })}, nil
}

type countedConn struct {
	net.Conn
	close func()
}

func (c *countedConn) Close() error {
	c.close()
	return c.Conn.Close()
}

// crowdUsers are the users of a crowd. Their keys are derived once.
type crowdUsers []*scram.Client

func newCrowdUsers(t *testing.T, n int) (users crowdUsers, members []mongotest.User) {
	for i := range n {
		name := fmt.Sprint("user", i)
		c, err := scram.SHA256.NewClient(name, name+"'s", "")
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, c)
		members = append(members, mongotest.User{Name: name, Password: name + "'s"})
	}
	return users, members
}

// logIn logs a connection in.
func (u crowdUsers) logIn(c *wireClient, i int) error {
	conversation := u[i%len(u)].NewConversation()
	payload, err := conversation.Step("")
	command := bson.D{e("saslStart", 1), e("mechanism", "SCRAM-SHA-256"), e("payload", []byte(payload)), e("options", d("skipEmptyExchange", true))}
	for err == nil {
		var reply bson.Raw
		if reply, err = c.ask(command, "admin"); err != nil {
			return err
		}
		_, answer, _ := reply.Lookup("payload").BinaryOK()
		if payload, err = conversation.Step(string(answer)); err != nil {
			return fmt.Errorf("%w, after the reply %v", err, reply)
		}
		if conversation.Done() {
			return nil
		}
		command = bson.D{e("saslContinue", 1), e("conversationId", 1), e("payload", []byte(payload))}
	}
	return err
}

// ask sends a command to a database and returns the reply. It may be called on any goroutine.
func (c *wireClient) ask(command bson.D, db string) (bson.Raw, error) {
	document, err := bson.Marshal(append(command, e("$db", db)))
	if err != nil {
		return nil, err
	}
	return c.try(document)
}

// own has a client ask for the document that only it asks for.
func (c *wireClient) own(id int) error {
	reply, err := c.ask(command("find", "c", e("filter", d("_id", id%100))), "app")
	if err != nil {
		return err
	}
	if got, ok := reply.Lookup("cursor", "firstBatch", "0", "_id").AsInt64OK(); !ok || int(got) != id%100 {
		return fmt.Errorf("it asks for %d and gets %v", id%100, reply)
	}
	return nil
}

// A crowd of clients that log in share few connections to the members: those that come all at once and stay, and those that live shortly.
func TestFigureOfTheServerConnections(t *testing.T) {
	users, members := newCrowdUsers(t, 20)
	members = append(members, mongotest.User{Name: "service", Password: servicePassword})
	dialer := new(counted)
	clients := memnet.Config{MinLatency: 200 * time.Microsecond, MaxLatency: time.Millisecond, Seed: 1}
	inWorldOf(t, clients, []mongotest.Option{mongotest.Users(members...), mongotest.Latency(200*time.Microsecond, time.Millisecond)}, func(w *world) {
		first := w.dial()
		if err := users.logIn(first, 0); err != nil {
			w.Fatal(err)
		}
		var documents bson.A
		for i := range 100 {
			documents = append(documents, d("_id", i))
		}
		if _, err := first.ask(command("insert", "c", e("documents", documents)), "app"); err != nil {
			w.Fatal(err)
		}
		stay := make(chan struct{})
		var all, ready sync.WaitGroup
		ready.Add(*crowd)
		began := time.Now()
		for i := range *crowd {
			all.Go(func() {
				defer ready.Done()
				c, err := w.join(users, i)
				if err != nil {
					w.Errorf("client %d: %v", i, err)
					return
				}
				all.Go(func() {
					defer c.conn.Close()
					<-stay
					if err := c.own(i + 1); err != nil {
						w.Errorf("client %d, later: %v", i, err)
					}
				})
			})
		}
		ready.Wait()
		together := w.router.Clients()
		took := time.Since(began)
		close(stay) // all ask at once again
		all.Wait()
		began = time.Now()
		var next atomic.Int64
		for range 64 {
			all.Go(func() {
				for i := next.Add(1); i <= int64(*crowd); i = next.Add(1) {
					c, err := w.join(users, int(i))
					if err != nil {
						w.Errorf("short life %d: %v", i, err)
						return
					}
					_ = c.conn.Close()
				}
			})
		}
		all.Wait()
		if together != *crowd+1 || dialer.peak.Load() > 100 {
			w.Errorf("%d clients at the same time, %d connections to the members", together, dialer.peak.Load())
		}
		w.Logf("%d clients log in within %v, and as many short lives take %v (on the fake clock)", *crowd, took, time.Since(began))
		fmt.Printf("figure router-server-connections %d\n", dialer.peak.Load())
	}, func(cfg *router.Config) {
		dialer.ContextDialer = cfg.Upstream.Dialer
		cfg.Upstream.SetDialer(dialer).SetMaxPoolSize(30).SetAuth(options.Credential{Username: "service", Password: servicePassword})
		cfg.PassThrough = true
	})
}

// join connects, logs in, and asks once.
func (w *world) join(users crowdUsers, i int) (*wireClient, error) {
	conn, err := w.network.DialContext(w.Context(), "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &wireClient{w: w, conn: conn}
	if err := users.logIn(c, i); err != nil {
		return nil, err
	}
	return c, c.own(i)
}
