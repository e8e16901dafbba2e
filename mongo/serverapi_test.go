package mongo_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Stable API: the fields are added to every command, and to each hello.
func TestEveryCommandDeclaresTheAPIVersion(t *testing.T) {
	declared := options.ServerAPI(options.ServerAPIVersion1).SetStrict(false).SetDeprecationErrors(true)
	var mu sync.Mutex
	undeclared, seen := map[string]bool{}, map[string]bool{}
	watch := func() (*mongotest.Deployment, error) {
		set, err := replicaSet()
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"hello", "insert", "find", "getMore", "killCursors", "update", "ping", "endSessions"} {
			set.Use(name, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				version, _ := r.Body.Lookup("apiVersion").StringValueOK()
				strict, given := r.Body.Lookup("apiStrict").BooleanOK()
				errs, _ := r.Body.Lookup("apiDeprecationErrors").BooleanOK()
				mu.Lock()
				seen[name] = true
				if version != "1" || strict || !given || !errs {
					undeclared[name] = true
				}
				mu.Unlock()
				return next(r)
			})
		}
		return set, nil
	}
	inside(t, watch, func(o *options.ClientOptions) { o.SetServerAPIOptions(declared) }, func(w *world) {
		_, err := w.coll.InsertMany(w.ctx, []d{doc("_id", 1), doc("_id", 2), doc("_id", 3), doc("_id", 4)})
		w.must(err)
		cursor, err := w.coll.Find(w.ctx, doc(), options.Find().SetBatchSize(1))
		w.must(err)
		for range 2 {
			cursor.Next(w.ctx)
		}
		w.must(cursor.Close(w.ctx))
		_, err = w.coll.UpdateMany(w.ctx, doc(), set1)
		w.must(err)
		w.must(w.client.Ping(w.ctx, nil))
		for _, field := range []string{"apiVersion", "apiStrict", "apiDeprecationErrors"} {
			err := w.client.Database("db").RunCommand(w.ctx, doc("ping", 1, field, "1")).Err()
			if err == nil || !strings.Contains(err.Error(), `the command has a field "`+field+`", which the client adds itself`) {
				t.Errorf("%s in a command: %v", field, err)
			}
		}
	})
	want := []string{"endSessions", "find", "getMore", "hello", "insert", "killCursors", "ping", "update"}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) || len(undeclared) > 0 {
		t.Errorf("seen %v, without the version %v", got, undeclared)
	}
}

// Without the option a program may declare a version in a command of its own.
func TestACommandMayDeclareTheAPIVersionItself(t *testing.T) {
	in(t, nil, func(w *world) {
		w.must(w.client.Database("db").RunCommand(w.ctx, doc("ping", 1, "apiVersion", "1")).Err())
	})
}

func TestAnUnknownAPIVersionIsRefused(t *testing.T) {
	_, err := mongo.Connect(options.Client().SetServerAPIOptions(options.ServerAPI("2")))
	if err == nil || !strings.Contains(err.Error(), `api version "2" not supported`) {
		t.Errorf("error %v", err)
	}
}
