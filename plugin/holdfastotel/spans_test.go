package holdfastotel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

var enabled = holdfastotel.Options{Enabled: true}

func TestARetriedWriteHasASpanForEachAttempt(t *testing.T) {
	in(t, enabled, func(w *world) {
		w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
		ctx, request := w.tracer.Start(w.ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		_, err := w.coll.InsertOne(ctx, bson.D{})
		w.must(err)
		request.End()
		w.want(`
		|request server
		|  insert shop.orders db.operation.name=insert
		|    insert failed db.operation.name=insert db.mongodb.txn_number=1 error.type=mongo.CommandError exception.type=mongo.CommandError
		|    insert db.operation.name=insert db.mongodb.txn_number=1
		|`, "db.operation.name", "db.mongodb.txn_number", "error.type", "db.response.status_code", "exception.type")
	})
}

// The exception of a server's error is that of the attempt, and of another error that of the operation.
func TestWhoseExceptionItIs(t *testing.T) {
	in(t, enabled, func(w *world) {
		w.set.Use("find", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 2}}))
		if w.coll.FindOne(w.ctx, bson.D{}).Err() == nil {
			w.Error("no error")
		}
		for i := range 3 {
			w.set.Kill(i)
		}
		<-time.After(time.Minute)
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		if w.coll.FindOne(ctx, bson.D{}).Err() == nil {
			w.Error("no error")
		}
		w.want(`
		|find shop.orders failed error.type=2
		|  find failed error.type=2 db.response.status_code=2 exception.type=mongo.CommandError
		|find shop.orders failed error.type=operation.NoServer exception.type=operation.NoServer
		|`, "error.type", "db.response.status_code", "exception.type")
		for _, s := range w.spans.Ended() {
			if stack, ok := spanAttribute(s, "exception.stacktrace"); ok && !strings.Contains(stack.(string), "spans_test.go") {
				w.Errorf("the stack is %v", stack)
			}
		}
	})
}

func TestATransactionIsASpan(t *testing.T) {
	in(t, enabled, func(w *world) {
		s, err := w.client.StartSession()
		w.must(err)
		defer s.EndSession(w.ctx)
		ctx, request := w.tracer.Start(w.ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			inner, step := w.tracer.Start(ctx, "step", trace.WithSpanKind(trace.SpanKindInternal))
			defer step.End()
			return w.coll.InsertOne(inner, bson.D{})
		})
		w.must(err)
		request.End()
		w.want(`
		|request server
		|  transaction db.system.name=mongodb
		|    insert shop.orders db.system.name=mongodb
		|      insert db.system.name=mongodb
		|    commitTransaction admin db.system.name=mongodb
		|      commitTransaction db.system.name=mongodb
		|  step internal
		|`, "db.system.name")
		for _, span := range w.spans.Ended() {
			if span.Name() == "transaction" && len(span.Attributes()) != 1 {
				w.Errorf("the transaction has the attributes %v", span.Attributes())
			}
		}
	})
}

func TestATransactionWhoseCommitFails(t *testing.T) {
	in(t, enabled, func(w *world) {
		s, err := w.client.StartSession()
		w.must(err)
		defer s.EndSession(w.ctx)
		w.must(s.StartTransaction())
		ctx := mongo.NewSessionContext(w.ctx, s)
		_, err = w.coll.InsertOne(ctx, bson.D{})
		w.must(err)
		w.set.Use("commitTransaction", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 2}}))
		if s.CommitTransaction(ctx) == nil {
			w.Error("no error")
		}
		w.want(`
		|transaction failed
		|  insert shop.orders
		|    insert
		|  commitTransaction admin failed
		|    commitTransaction failed
		|`)
	})
}

// A command with a password has no span, and its operation shows nothing of it.
func TestACommandWithAPasswordHasNoSpan(t *testing.T) {
	o := enabled
	o.QueryTextMaxLength = 1000
	in(t, o, func(w *world) {
		w.must(w.client.Database("shop").RunCommand(w.ctx, bson.D{{Key: "createUser", Value: "u"}, {Key: "pwd", Value: "hunter2"}, {Key: "roles", Value: bson.A{}}}).Err())
		w.want(`
		|runCommand shop
		|`)
		for _, s := range w.spans.Ended() {
			for _, a := range s.Attributes() {
				if strings.Contains(a.Value.String(), "hunter2") {
					w.Errorf("%s has %v", s.Name(), a)
				}
			}
		}
	})
}

// The command mapReduce, for which the client has no method, has the spans of the specification by RunCommand, but for the operation's name.
func TestMapReduceByRunCommand(t *testing.T) {
	in(t, enabled, func(w *world) {
		_ = w.client.Database("shop").RunCommand(w.ctx, bson.D{
			{Key: "mapReduce", Value: "orders"},
			{Key: "map", Value: bson.JavaScript("function() { emit(1, 1) }")},
			{Key: "reduce", Value: bson.JavaScript("function(k, v) { return 1 }")},
			{Key: "out", Value: bson.D{{Key: "inline", Value: 1}}},
		})
		tree := strings.ReplaceAll(w.tree("db.namespace", "db.collection.name", "db.command.name", "db.query.summary"), " failed", "")
		want := "runCommand shop db.namespace=shop\n" +
			"  mapReduce db.namespace=shop db.collection.name=orders db.command.name=mapReduce db.query.summary=mapReduce shop.orders\n"
		if tree != want {
			w.Errorf("the spans are\n%swant\n%s", tree, want)
		}
	})
}
