package router_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// Clients of two routers lose nothing when one of them ends: it says so in its hellos, goes on working, and ends when they have left.
func TestARouterEndsUnderLoad(t *testing.T) {
	inWorld(t, func(w *world) {
		second := w.startAt("second:27017")
		defer second.Close()
		// With our client; TestRoutersDrainUnderLoad has others.
		client, err := mongo.Connect(options.Client().SetHosts([]string{address, "second:27017"}).SetDialer(w.network))
		if err != nil {
			w.Fatal(err)
		}
		defer client.Disconnect(w.Context())
		of := client.Database("app").Collection("c")
		ctx, stop := context.WithCancel(w.Context())
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					if _, err := of.InsertOne(w.Context(), d("_id", fmt.Sprint(i, " ", n))); err != nil {
						w.Errorf("client %d: %v", i, err)
						return
					}
					<-time.After(10 * time.Millisecond)
				}
			})
		}
		<-time.After(time.Second)
		began := time.Now()
		w.router.Shutdown(w.Context())
		if took := time.Since(began); took > 15*time.Second+100*time.Millisecond {
			w.Errorf("the shutdown took %v", took)
		}
		<-time.After(time.Second)
		stop()
		all.Wait()
		if n := w.router.Clients(); n != 0 {
			w.Errorf("%d clients are connected", n)
		}
	})
}
