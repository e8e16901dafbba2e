package router_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// "In load balanced mode the hello command is sent with loadBalanced: true, and its reply has serviceId" (Load Balancers, "Connection
// Pooling"). The id is that of the router: behind a balancer drivers drop the connections to one router by it.
func TestServiceIDOnlyIfLoadBalanced(t *testing.T) {
	inWorld(t, func(w *world) {
		second := w.startAt("second:27017")
		defer second.Close()
		balanced := e("loadBalanced", true)
		id := w.serviceID(w.dial(), balanced)
		if id.IsZero() || w.serviceID(w.dial(), balanced) != id {
			w.Errorf("the connections to a router have not the same serviceId, %v", id)
		}
		if other := w.serviceID(w.dialTo("second:27017"), balanced); other.IsZero() || other == id {
			w.Errorf("two routers have the serviceIds %v and %v", id, other)
		}
		for _, more := range [][]bson.E{nil, {e("loadBalanced", false)}} {
			if id := w.serviceID(w.dial(), more...); !id.IsZero() {
				w.Errorf("the reply to a hello with %v has the serviceId %v", more, id)
			}
		}
	})
}

// serviceID returns the serviceId in the reply to a hello, the zero id if it has none.
func (w *world) serviceID(c *wireClient, more ...bson.E) bson.ObjectID {
	w.Helper()
	id, _ := c.run(d("hello", 1), more...).Lookup("serviceId").ObjectIDOK()
	return id
}

// A load-balanced driver keeps the connection of a cursor and of a transaction, which it can use for both at the same time.
func TestALoadBalancedDriver(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.collection(options.Client().SetLoadBalanced(true).SetMaxPoolSize(2))
		if _, err := c.InsertMany(w.Context(), []bson.D{d("_id", 1), d("_id", 2), d("_id", 3)}); err != nil {
			w.Fatal(err)
		}
		cursor, err := c.Find(w.Context(), bson.D{}, options.Find().SetBatchSize(1))
		if err != nil {
			w.Fatal(err)
		}
		session, err := c.Database().Client().StartSession()
		if err != nil {
			w.Fatal(err)
		}
		defer session.EndSession(w.Context())
		_, err = session.WithTransaction(w.Context(), func(ctx context.Context) (any, error) { return c.InsertOne(ctx, d("_id", 4)) })
		if err != nil {
			w.Errorf("a transaction beside an open cursor: %v", err)
		}
		var first []bson.D
		if err := cursor.All(w.Context(), &first); err != nil || len(first) < 3 {
			w.Errorf("the cursor gave %v, %v", first, err)
		}
		w.set.CheckDocuments(w, "app.c", d("_id", 1), d("_id", 2), d("_id", 3), d("_id", 4))
	})
}
