package mongo_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// method is a call of one method that sends a command.
type method struct {
	command string
	do      func(ctx context.Context, coll *mongo.Collection) error
}

// methods has a call of each method that takes a context. Those of a session and of a cursor are not among them: their
// session is not the caller's.
var methods = map[string]method{
	"Client.BulkWrite": {"bulkWrite", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Client().BulkWrite(ctx, []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: clientInsert(d{})}})
		return err
	}},
	"Client.ListDatabaseNames": {"listDatabases", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Client().ListDatabaseNames(ctx, d{})
		return err
	}},
	"Client.ListDatabases": {"listDatabases", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Client().ListDatabases(ctx, d{})
		return err
	}},
	"Client.Ping": {"ping", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().Client().Ping(ctx, nil)
	}},
	"Client.Watch": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		return closed(ctx)(coll.Database().Client().Watch(ctx, bson.A{}))
	}},
	"Collection.Aggregate": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Aggregate(ctx, bson.A{})
		return err
	}},
	"Collection.BulkWrite": {"insert", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.BulkWrite(ctx, []mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(d{})})
		return err
	}},
	"Collection.CountDocuments": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.CountDocuments(ctx, d{})
		return err
	}},
	"Collection.DeleteMany": {"delete", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.DeleteMany(ctx, d{})
		return err
	}},
	"Collection.DeleteOne": {"delete", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.DeleteOne(ctx, d{})
		return err
	}},
	"Collection.Distinct": {"distinct", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Distinct(ctx, "x", d{}).Err()
	}},
	"Collection.Drop": {"drop", func(ctx context.Context, coll *mongo.Collection) error { return coll.Drop(ctx) }},
	"Collection.EstimatedDocumentCount": {"count", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.EstimatedDocumentCount(ctx)
		return err
	}},
	"Collection.Find": {"find", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Find(ctx, d{})
		return err
	}},
	"Collection.FindOne": {"find", func(ctx context.Context, coll *mongo.Collection) error { return foundOrNone(coll.FindOne(ctx, d{})) }},
	"Collection.FindOneAndDelete": {"findAndModify", func(ctx context.Context, coll *mongo.Collection) error {
		return foundOrNone(coll.FindOneAndDelete(ctx, d{}))
	}},
	"Collection.FindOneAndReplace": {"findAndModify", func(ctx context.Context, coll *mongo.Collection) error {
		return foundOrNone(coll.FindOneAndReplace(ctx, d{}, d{}))
	}},
	"Collection.FindOneAndUpdate": {"findAndModify", func(ctx context.Context, coll *mongo.Collection) error {
		return foundOrNone(coll.FindOneAndUpdate(ctx, d{}, set1))
	}},
	"Collection.InsertMany": {"insert", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.InsertMany(ctx, []d{{}})
		return err
	}},
	"Collection.InsertOne": {"insert", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.InsertOne(ctx, d{})
		return err
	}},
	"Collection.ReplaceOne": {"update", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.ReplaceOne(ctx, d{}, d{})
		return err
	}},
	"Collection.UpdateByID": {"update", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.UpdateByID(ctx, 1, set1)
		return err
	}},
	"Collection.UpdateMany": {"update", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.UpdateMany(ctx, d{}, set1)
		return err
	}},
	"Collection.UpdateOne": {"update", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.UpdateOne(ctx, d{}, set1)
		return err
	}},
	"Collection.Watch": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		return closed(ctx)(coll.Watch(ctx, bson.A{}))
	}},
	"Database.Aggregate": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Aggregate(ctx, bson.A{doc("$documents", bson.A{d{}})})
		return err
	}},
	"Database.CreateCollection": {"create", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().CreateCollection(ctx, bson.NewObjectID().Hex())
	}},
	"Database.CreateView": {"create", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().CreateView(ctx, bson.NewObjectID().Hex(), "c", bson.A{})
	}},
	"Database.Drop": {"dropDatabase", func(ctx context.Context, coll *mongo.Collection) error { return coll.Database().Drop(ctx) }},
	"Database.ListCollectionNames": {"listCollections", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().ListCollectionNames(ctx, d{})
		return err
	}},
	"Database.ListCollectionSpecifications": {"listCollections", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().ListCollectionSpecifications(ctx, d{})
		return err
	}},
	"Database.ListCollections": {"listCollections", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().ListCollections(ctx, d{})
		return err
	}},
	"Database.RunCommand": {"ping", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().RunCommand(ctx, doc("ping", 1)).Err()
	}},
	"Database.RunCommandCursor": {"find", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().RunCommandCursor(ctx, doc("find", "c"))
		return err
	}},
	"Database.Watch": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		return closed(ctx)(coll.Database().Watch(ctx, bson.A{}))
	}},
	"IndexView.CreateMany": {"createIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().CreateMany(ctx, []mongo.IndexModel{{Keys: doc("many", 1)}})
		return err
	}},
	"IndexView.CreateOne": {"createIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("one", 1)})
		return err
	}},
	"IndexView.DropAll": {"dropIndexes", func(ctx context.Context, coll *mongo.Collection) error { return coll.Indexes().DropAll(ctx) }},
	"IndexView.DropOne": {"dropIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Indexes().DropOne(ctx, "one_1")
	}},
	"IndexView.DropWithKey": {"dropIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Indexes().DropWithKey(ctx, doc("one", 1))
	}},
	"IndexView.List": {"listIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().List(ctx)
		return err
	}},
	"IndexView.ListSpecifications": {"listIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().ListSpecifications(ctx)
		return err
	}},
	"SearchIndexView.CreateMany": {"createSearchIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.SearchIndexes().CreateMany(ctx, []mongo.SearchIndexModel{{Definition: d{}}})
		return err
	}},
	"SearchIndexView.CreateOne": {"createSearchIndexes", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.SearchIndexes().CreateOne(ctx, mongo.SearchIndexModel{Definition: d{}})
		return err
	}},
	"SearchIndexView.DropOne": {"dropSearchIndex", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.SearchIndexes().DropOne(ctx, "x")
	}},
	"SearchIndexView.List": {"aggregate", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.SearchIndexes().List(ctx, nil)
		return err
	}},
	"SearchIndexView.UpdateOne": {"updateSearchIndex", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.SearchIndexes().UpdateOne(ctx, "x", d{})
	}},
}

// withoutCommand are the methods that take a context and send no command of the caller's.
var withoutCommand = []string{"Client.Disconnect", "Client.UseSession", "Client.UseSessionWithOptions"}

func foundOrNone(r *mongo.SingleResult) error {
	if errors.Is(r.Err(), mongo.ErrNoDocuments) {
		return nil
	}
	return r.Err()
}

func asItIs(*world) {}

func TestTheTableNamesEveryMethodThatTakesAContext(t *testing.T) {
	named := slices.Clone(withoutCommand)
	for name := range methods {
		named = append(named, name)
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[*mongo.Client](), reflect.TypeFor[*mongo.Database](), reflect.TypeFor[*mongo.Collection](),
		reflect.TypeFor[mongo.IndexView](), reflect.TypeFor[mongo.SearchIndexView](),
	} {
		for i := range of.NumMethod() {
			m := of.Method(i)
			if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			name := strings.TrimPrefix(of.String(), "*")
			name = strings.TrimPrefix(name, "mongo.") + "." + m.Name
			at := slices.Index(named, name)
			if at < 0 {
				t.Errorf("the table lacks %s", name)
				continue
			}
			named = slices.Delete(named, at, at+1)
		}
	}
	if len(named) > 0 {
		t.Errorf("there is no method %q", named)
	}
}

// withEachMethod runs f with each method, in a bubble with a replica set of MongoDB 8.0, whose collection has an index.
// prepare is called before the client knows the set.
func withEachMethod(t *testing.T, prepare func(*world), f func(t *testing.T, w *world, m method)) {
	t.Helper()
	run := func() (*mongotest.Deployment, error) {
		set, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Version("8.0"))
		if err == nil {
			prepare(&world{T: t, set: set})
		}
		return set, err
	}
	for name, m := range methods {
		t.Run(name, func(t *testing.T) {
			inside(t, run, poll, func(w *world) {
				_, err := w.coll.Indexes().CreateOne(w.ctx, mongo.IndexModel{Keys: doc("one", 1)})
				w.must(err)
				w.forget()
				f(t, w, m)
			})
		})
	}
}

// Driver Sessions, prose test 4.
func TestSessionsProse4EveryMethodRunsInTheSessionOfItsContext(t *testing.T) {
	withEachMethod(t, asItIs, func(t *testing.T, w *world, m method) {
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		_ = m.do(ctx, w.coll) // the server has no search indexes
		if got := w.lsids(m.command); len(got) == 0 || got[0] != s.ID().String() {
			t.Errorf("the lsids are %v, that of the session is %s", got, s.ID())
		}
		w.forget()
		_ = m.do(w.ctx, w.coll)
		if got := w.lsids(m.command); len(got) == 0 || got[0] == s.ID().String() || got[0] == "" {
			t.Errorf("without the session the lsids are %v, that of the session is %s", got, s.ID())
		}
	})
}

// Driver Sessions, prose test 5.
func TestSessionsProse5EveryMethodRefusesASessionOfAnotherClient(t *testing.T) {
	withEachMethod(t, asItIs, func(t *testing.T, w *world, m method) {
		other := w.another(0, "", nil)
		s, err := other.StartSession()
		w.must(err)
		defer s.EndSession(w.ctx)
		err = m.do(mongo.NewSessionContext(w.ctx, s), w.coll)
		if !errors.Is(err, mongo.ErrWrongClient) || len(w.started("")) != 0 {
			t.Errorf("%d commands were sent: %v", len(w.started("")), err)
		}
	})
}

// Driver Sessions, prose test 6.
func TestSessionsProse6EveryMethodRefusesASessionThatHasEnded(t *testing.T) {
	withEachMethod(t, asItIs, func(t *testing.T, w *world, m method) {
		s, ctx := w.session()
		s.EndSession(w.ctx)
		err := m.do(ctx, w.coll)
		if err == nil || !strings.Contains(err.Error(), "ended session was used") || len(w.started("")) != 0 {
			t.Errorf("%d commands were sent: %v", len(w.started("")), err)
		}
	})
}

// Driver Sessions, prose tests 18 and 19.
func TestSessionsProse18And19AServerWithoutSessions(t *testing.T) {
	withEachMethod(t, (*world).noSessions, func(t *testing.T, w *world, m method) {
		_ = m.do(w.ctx, w.coll)
		for _, lsid := range w.lsids(m.command) {
			if lsid != "" {
				t.Errorf("an implicit session was sent: %s", lsid)
			}
		}
		w.forget()
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		err := m.do(ctx, w.coll)
		if err == nil || !strings.Contains(err.Error(), "current topology does not support sessions") || len(w.started("")) != 0 {
			t.Errorf("%d commands were sent: %v", len(w.started("")), err)
		}
	})
}
