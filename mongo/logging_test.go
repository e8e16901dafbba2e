package mongo_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// logSink keeps the messages of a client: the level, the text and the fields.
type logSink struct {
	mu       sync.Mutex
	messages []logMessage
}

type logMessage struct {
	level  string
	text   string
	fields map[string]any
}

func (s *logSink) Info(level int, message string, keysAndValues ...any) {
	m := logMessage{[]string{"info", "debug"}[level], message, make(map[string]any)}
	for i := 0; i < len(keysAndValues); i += 2 {
		m.fields[keysAndValues[i].(string)] = keysAndValues[i+1]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, m)
}

func (s *logSink) Error(error, string, ...any) { panic("errors are fields of messages") }

// with returns the messages whose text begins so.
func (s *logSink) with(text string) []logMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []logMessage
	for _, m := range s.messages {
		if strings.HasPrefix(m.text, text) {
			found = append(found, m)
		}
	}
	return found
}

// logging configures a client that logs everything from a level on.
func logging(level options.LogLevel) (*logSink, func(*options.ClientOptions)) {
	s := new(logSink)
	return s, func(o *options.ClientOptions) {
		o.SetLoggerOptions(options.Logger().SetSink(s).SetComponentLevel(options.LogComponentAll, level))
	}
}

func (m logMessage) has(t *testing.T, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if fmt.Sprint(m.fields[key]) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v", m.text, key, m.fields[key], value)
		}
	}
}

// The design: retries at debug, refusals once at info with the stop reason.
func TestARetryIsLoggedAtDebugAndARefusalOnceAtInfo(t *testing.T) {
	log, configure := logging(options.LogLevelDebug)
	in(t, configure, func(w *world) {
		w.seed()
		w.script("update", loseReply)
		w.must(updateOne(w))
		retried := log.with("Operation retried")
		if len(retried) != 1 || len(log.with("Operation not retried")) != 0 {
			t.Fatalf("%d retries, %d refusals", len(retried), len(log.with("Operation not retried")))
		}
		if retried[0].level != "debug" {
			t.Errorf("the level is %s", retried[0].level)
		}
		retried[0].has(t, map[string]any{
			"commandName": "update", "databaseName": "test", "attempt": 1, "stage": "in flight", "reason": "NETWORK_ERROR",
			"serverPort": 27017, "serverHost": "m0.rs0.mongotest",
		})
		w.script("update", loseReply, loseReply)
		if updateOne(w) == nil {
			t.Fatal("it succeeds")
		}
		refused := log.with("Operation not retried")
		if len(refused) != 1 || refused[0].level != "info" {
			t.Fatalf("%+v", refused)
		}
		refused[0].has(t, map[string]any{"commandName": "update", "attempt": 2, "stopReason": "attempts used up", "outcomeKnown": false})
		id := refused[0].fields["operationId"]
		for _, m := range log.with("Command started") {
			if m.fields["operationId"] == id {
				return
			}
		}
		t.Errorf("no command has the operationId %v of the refusal", id)
	})
}

// SDAM, "Other TopologyTypes": "A client SHOULD emit a warning when, in the process of updating its topology description, it
// removes the last server from the topology."
func TestATopologyThatLosesItsLastServerIsLoggedOnceAtInfo(t *testing.T) {
	for _, c := range []struct {
		name, set string
		want      int
	}{
		{"the name of the replica set is wrong", "other", 1},
		{"the name of the replica set is right", "rs0", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, configure := logging(options.LogLevelInfo)
			in(t, func(o *options.ClientOptions) { configure(o); o.SetReplicaSet(c.set) }, func(w *world) {
				w.pass(time.Minute)
				lost := log.with("Topology has no servers left")
				if len(lost) != c.want {
					w.Fatalf("%d messages, want %d", len(lost), c.want)
				}
				for _, m := range lost {
					if before := fmt.Sprint(m.fields["previousDescription"]); m.level != "info" || !strings.Contains(before, ".rs0.mongotest:27017 Unknown") {
						w.Errorf("%+v", m)
					}
				}
			})
		})
	}
}

func TestAnErrorWithoutARefusedRetryIsNotLoggedAtInfo(t *testing.T) {
	log, configure := logging(options.LogLevelInfo)
	in(t, configure, func(w *world) {
		w.seed()
		w.script("update", refuse(1))
		if updateOne(w) == nil {
			t.Fatal("it succeeds")
		}
		if got := log.with("Operation"); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// The commands of one operation have one operationId; other operations have others.
func TestTheOperationIDIsThatOfAllAttempts(t *testing.T) {
	log, configure := logging(options.LogLevelDebug)
	in(t, configure, func(w *world) {
		w.seed()
		w.script("update", loseReply)
		w.must(updateOne(w))
		w.must(findOne(w))
		ids := make(map[string][]any)
		for _, m := range log.with("Command started") {
			name := m.fields["commandName"].(string)
			ids[name] = append(ids[name], m.fields["operationId"])
		}
		if u := ids["update"]; len(u) != 2 || u[0] != u[1] || u[0] == ids["find"][0] {
			t.Errorf("the identifiers are %v", ids)
		}
		for _, m := range log.with("Server selection started") {
			if m.fields["operation"] == "find" && m.fields["operationId"] != ids["find"][0] {
				t.Errorf("the selection has %v", m.fields["operationId"])
			}
		}
	})
}

// Command Logging and Monitoring, "Bulk Writes": the commands of one bulk write have one operationId.
func TestTheOperationIDIsThatOfAllCommandsOfABulkWrite(t *testing.T) {
	log, configure := logging(options.LogLevelDebug)
	run := func() (*mongotest.Deployment, error) { return smallMessagesWith(mongotest.Version("8.0")) }
	inside(t, run, configure, func(w *world) {
		w.seed() // the limits of the servers are known then
		models := []mongo.WriteModel{
			mongo.NewInsertOneModel().SetDocument(doc("_id", 7)), mongo.NewDeleteOneModel().SetFilter(doc("_id", 7)),
			mongo.NewInsertOneModel().SetDocument(doc("_id", 8)),
		}
		var clientModels []mongo.ClientBulkWrite
		for _, document := range sized(4, 6000) {
			clientModels = append(clientModels, mongo.ClientBulkWrite{
				Database: "test", Collection: "other", Model: mongo.NewClientInsertOneModel().SetDocument(document),
			})
		}
		for name, c := range map[string]struct {
			commands int
			do       func() error
		}{
			"Collection.BulkWrite": {3, func() error { _, err := w.coll.BulkWrite(w.ctx, models); return err }},
			"Client.BulkWrite":     {2, func() error { _, err := w.client.BulkWrite(w.ctx, clientModels); return err }},
		} {
			before := len(log.with("Command started"))
			w.must(c.do())
			ids := make(map[any]bool)
			sent := log.with("Command started")[before:]
			for _, m := range sent {
				ids[m.fields["operationId"]] = true
			}
			if len(sent) != c.commands || len(ids) != 1 {
				t.Errorf("%s: %d commands have the operationIds %v", name, len(sent), ids)
			}
		}
	})
}

// Credentials appear in no message.
func TestACommandWithCredentialsIsNotShown(t *testing.T) {
	log, configure := logging(options.LogLevelDebug)
	in(t, configure, func(w *world) {
		for _, fault := range []mongotest.Fault{
			{},
			loseReply,
			{Error: &mongotest.CommandError{Code: 11, Name: "X", Message: "the password secret is bad"}},
			{Error: &mongotest.CommandError{Code: 11, Name: "X", Message: "the password secret is bad", Labels: []string{"SystemOverloadedError", "RetryableError"}}},
		} {
			w.script("createUser", fault, fault, fault, fault)
			_ = w.client.Database("admin").RunCommand(w.ctx, d{
				{Key: "createUser", Value: "u"}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A{}},
			}).Err()
		}
		if len(log.with("Operation")) == 0 || len(log.with("Command failed")) == 0 {
			t.Error("nothing failed")
		}
		for _, m := range log.with("") {
			if strings.Contains(fmt.Sprint(m.fields), "secret") {
				t.Errorf("%s shows the password: %v", m.text, m.fields)
			}
		}
	})
}

// "Waiting for suitable server" is an info message, once for each selection.
func TestASelectionThatWaitsSaysItOnce(t *testing.T) {
	log, configure := logging(options.LogLevelInfo)
	in(t, func(o *options.ClientOptions) {
		configure(o)
		o.SetServerSelectionTimeout(3 * time.Second)
	}, func(w *world) {
		w.seed()
		w.set.Partition([]int{0}, []int{1}, []int{2}) // no primary
		w.pass(30 * time.Second)
		before := len(log.with("")) // the first operation may wait too
		if insertOneOf(w) == nil {
			t.Fatal("it succeeds")
		}
		got := log.with("")[before:]
		if len(got) != 1 || got[0].level != "info" {
			t.Fatalf("%+v", got)
		}
		got[0].has(t, map[string]any{"message": "Waiting for suitable server to become available", "operation": "insert", "remainingTimeMS": 3000, "selector": "write"})
	})
}

// Server Selection, "Logging": "the driver MUST take care to only emit this message once per operation", also if the operation is
// retried and waits again. The remaining time is that until the deadline, if it comes before the server selection timeout.
func TestAnOperationThatWaitsAtEachRetrySaysItOnce(t *testing.T) {
	log, configure := logging(options.LogLevelInfo)
	in(t, func(o *options.ClientOptions) { configure(o); poll(o) }, func(w *world) {
		w.seed()
		var asked atomic.Int32
		w.heal = w.set.Use("insert", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			asked.Add(1)
			return refuse(10107, "RetryableWriteError")
		}))
		for range 2 {
			asked.Store(0)
			before := len(log.with("Waiting"))
			ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
			defer cancel()
			if insertOne(ctx, w.coll) == nil || asked.Load() < 3 {
				w.Fatalf("%d attempts", asked.Load())
			}
			got := log.with("Waiting")[before:]
			if len(got) != 1 {
				w.Fatalf("%d messages after %d attempts", len(got), asked.Load())
			}
			got[0].has(t, map[string]any{"remainingTimeMS": 5000, "operation": "insert"})
		}
	})
}

func TestWithoutALevelNothingIsLogged(t *testing.T) {
	log := new(logSink)
	in(t, func(o *options.ClientOptions) { o.SetLoggerOptions(options.Logger().SetSink(log)) }, func(w *world) {
		w.must(insertOneOf(w))
		if got := log.with(""); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func insertOneOf(w *world) error {
	_, err := w.coll.InsertOne(w.ctx, d{})
	return err
}
