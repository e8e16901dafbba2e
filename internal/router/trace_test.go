package router_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/telemetry"
)

// told are the operations and decisions that a tracer was told of.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (l *told) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *told) tracer() *telemetry.Tracer {
	return &telemetry.Tracer{
		OperationEnded: func(_ context.Context, o *telemetry.Operation, err error) {
			l.add("%s %s.%s %t", o.Name, o.Namespace, o.Collection, err == nil)
		},
		AttemptEnded: func(_ context.Context, a *telemetry.Attempt, r *telemetry.Result) {
			if a.Operation == nil {
				return
			}
			first, _ := bson.Raw(a.Command()).Elements()
			answered := r.Reply != nil && bson.Raw(r.Reply()).Lookup("ok").AsInt64() == 1
			l.add("attempt %d at %s: %s, answered %t, %d rows", a.Number, a.Operation.Name, first[0].Key(), answered, r.Rows)
		},
		Decided: func(_ context.Context, d *telemetry.Decision) {
			if d.StopReason == "" {
				l.add("%s again: %s", d.Operation.Name, d.Stage)
			}
		},
	}
}

// A tracer is told of each operation of a client, with its retries. What the router answers itself is none.
func TestATracerIsToldOfTheClientsOperations(t *testing.T) {
	for _, passive := range []bool{false, true} {
		t.Run(fmt.Sprintf("passive %t", passive), func(t *testing.T) { testATracer(t, passive) })
	}
}

func testATracer(t *testing.T, passive bool) {
	var l told
	tracer := l.tracer()
	tracer.Passive = passive
	inWorld(t, func(w *world) {
		c := w.collection()
		ping := func() error { return c.Database().RunCommand(w.Context(), d("ping", 1)).Err() }
		if err := ping(); err != nil {
			w.Fatal(err)
		}
		w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
		if _, err := c.InsertMany(w.Context(), []any{d("_id", 1), d("_id", 2), d("_id", 3)}); err != nil {
			w.Fatal(err)
		}
		cursor, err := c.Find(w.Context(), bson.D{}, options.Find().SetBatchSize(2))
		if err != nil {
			w.Fatal(err)
		}
		var all []bson.D
		if err := cursor.All(w.Context(), &all); err != nil || len(all) != 3 {
			w.Errorf("%d documents, %v", len(all), err)
		}
		_ = c.Database().RunCommand(w.Context(), d(strings.Repeat("x", 1000), 1)).Err()
	}, func(c *router.Config) { c.Tracer = tracer })
	want := []string{
		"attempt 0 at insert: insert, answered false, -1 rows", "insert again: in flight",
		"attempt 1 at insert: insert, answered true, -1 rows", "insert app.c true",
		"attempt 0 at find: find, answered true, 2 rows", "find app.c true",
		"attempt 0 at getMore: getMore, answered true, 1 rows", "getMore app.c true",
		"attempt 0 at : " + strings.Repeat("x", 1000) + ", answered false, -1 rows", " app. false",
	}
	if got := strings.Join(l.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("told:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}
