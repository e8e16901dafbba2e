package mongo_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/cli/rules"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// ruled is a deployment with clients whose failures are those of a case of the table of rules.
type ruled struct {
	*testing.T
	set *mongotest.Deployment
	// The clients with retries and without.
	on, off *mongo.Client

	mu      sync.Mutex
	armed   *rules.MongoCase // nil: nothing fails
	command string           // of the case's operation
	cancel  context.CancelFunc
	failed  []retry.Record // of the case
	ended   bool
	slow    atomic.Bool  // hello takes a while: a monitor must not make a cleared pool ready before its checkout
	cleared atomic.Value // the address of the server whose pool was cleared last
}

// idle is how long a connection may be idle. A case that is about a new connection waits for longer.
const idle = time.Second

// heartbeat is the interval in which a monitor checks its server.
const heartbeat = time.Second

func newRuled(t *testing.T, server rules.MongoServer, set *mongotest.Deployment) *ruled {
	r := &ruled{T: t, set: set}
	set.Use(mongotest.AnyCommand, r.answer)
	set.Use("hello", func(q *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		if reply := r.greet(q); reply != nil {
			return reply
		}
		if r.slow.Load() {
			<-time.After(50 * time.Millisecond)
		}
		reply := next(q)
		if reply != nil && reply.Body != nil && server == rules.WithoutSessions {
			reply.Body = without(t, reply.Body, "logicalSessionTimeoutMinutes")
		}
		return reply
	})
	r.on, r.off = r.connect(true), r.connect(false)
	return r
}

func (r *ruled) connect(retries bool) *mongo.Client {
	var client *mongo.Client
	o := options.Client().SetDialer(r).SetRetryReads(retries).SetRetryWrites(retries).SetMaxConnIdleTime(idle).SetHeartbeatInterval(heartbeat)
	o.SetServerMonitoringMode(options.ServerMonitoringModePoll)
	o.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
		switch {
		case e.Type == event.ConnectionPoolCleared:
			r.cleared.Store(e.Address)
		case e.Type == event.ConnectionCheckOutStarted && r.failsNow(rules.MongoPoolCleared):
			r.clearPool(client, e.Address)
		}
	}})
	client, err := mongo.Open(r.set.URI(), mongo.Config{Observer: r}, o)
	if err != nil {
		r.Fatal(err)
	}
	return client
}

// arm makes the operation of a case fail until disarm.
func (r *ruled) arm(c *rules.MongoCase, command string, cancel context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.armed, r.command, r.cancel, r.failed, r.ended = c, command, cancel, nil, false
	r.slow.Store(c.Failure.Kind == rules.MongoPoolCleared)
}

// disarm returns the failures of the case.
func (r *ruled) disarm() []retry.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.armed = nil
	r.slow.Store(false)
	return r.failed
}

// failsNow reports whether the case has a failure of this kind.
func (r *ruled) failsNow(kind rules.MongoFailureKind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.armed != nil && r.armed.Failure.Kind == kind
}

// Observe implements retry.Observer.
func (r *ruled) Observe(_ context.Context, e retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.armed == nil || e.Name != r.command || r.ended:
	case e.Kind == retry.EventDecided:
		r.failed = append(r.failed, e.Record)
	case e.Kind == retry.EventEnded:
		r.ended = true
		if e.Err != nil {
			r.failed[len(r.failed)-1].StopReason = e.StopReason // the decision may have been to retry, and the delay ended with the context
		}
	}
}

// DialContext implements options.ContextDialer.
func (r *ruled) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if r.failsNow(rules.MongoConnect) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("scripted")}
	}
	return r.set.Dialer().DialContext(ctx, network, address)
}

// greet answers the hello of an application's new connection. The hello of a monitor's connection that is there already has no metadata.
func (r *ruled) greet(q *mongotest.Request) *mongotest.Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.armed == nil || r.armed.Failure.Kind != rules.MongoHandshake || q.Body.Lookup("client").IsZero() {
		return nil
	}
	return &mongotest.Reply{Error: &mongotest.CommandError{Code: r.armed.Failure.Code, Message: "scripted"}}
}

// answer answers the command of the case's operation.
func (r *ruled) answer(q *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	r.mu.Lock()
	c, cancel := r.armed, r.cancel
	ours := c != nil && q.Command == r.command
	r.mu.Unlock()
	if !ours {
		return next(q)
	}
	switch c.Failure.Kind {
	case rules.MongoReply:
		return &mongotest.Reply{Error: &mongotest.CommandError{Code: c.Failure.Code, Message: "scripted", Labels: labelsOfReply(c)}}
	case rules.MongoWriteConcern:
		trouble := doc("writeConcernError", doc("code", c.Failure.Code, "errmsg", "scripted"), "errorLabels", labelsOfReply(c))
		return done(trouble)
	case rules.MongoWriteErrors:
		return done(doc("writeErrors", bson.A{doc("index", 0, "code", c.Failure.Code, "errmsg", "scripted")}))
	case rules.MongoCancelled:
		cancel()
		return &mongotest.Reply{Lost: true, Silent: true}
	case rules.MongoNetwork:
		return &mongotest.Reply{Lost: true}
	case rules.MongoConnect, rules.MongoHandshake, rules.MongoPoolCleared, rules.MongoNoServer:
	}
	return next(q)
}

// done returns the reply with ok: 1 of any command.
func done(more d) *mongotest.Reply {
	cursor := doc("id", int64(0), "ns", "test.c", "firstBatch", bson.A{})
	return mongotest.NewReply(append(doc("ok", 1, "n", 1, "nModified", 1, "cursor", cursor), more...))
}

// labelsOfReply returns the labels of the case, with that of the server. A mongos passes the label of a shard's member on. Nil leaves it to
// the test server, whose label is then compared with the rule for the label.
func labelsOfReply(c *rules.MongoCase) []string {
	fromMember := c.Server != rules.Sharded && c.Server != rules.LoadBalanced && c.Failure.Kind == rules.MongoReply
	if fromMember && len(c.Failure.Labels) == 0 {
		return nil
	}
	labels := append([]string{}, c.Failure.Labels...)
	if c.ServerLabels() {
		labels = append(labels, "RetryableWriteError")
	}
	return labels
}

// clearPool clears the pool of a server: other operations are answered that the server shuts down, until one was sent to this server.
func (r *ruled) clearPool(client *mongo.Client, address string) {
	r.mu.Lock()
	c := r.armed
	r.armed = nil // the other operations are not the case's
	r.mu.Unlock()
	end := r.set.Use("ping", mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 91, Message: "scripted"}}))
	defer end()
	for r.cleared.Store(""); r.cleared.Load() != address; {
		anywhere := options.RunCmd().SetReadPreference(readpref.Nearest())
		if err := client.Database("admin").RunCommand(context.Background(), doc("ping", 1), anywhere).Err(); err == nil {
			r.Error("a ping that was to be refused has succeeded")
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.armed = c
}

func (r *ruled) close() {
	for _, c := range []*mongo.Client{r.on, r.off} {
		if err := c.Disconnect(context.Background()); err != nil {
			r.Error(err)
		}
	}
	if err := r.set.Close(); err != nil {
		r.Error(err)
	}
}
