package mongo_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Source: MongoDB Handshake, prose tests "Metadata updates": an update reaches the connections that begin after it, and
// changes no open one.
func TestLibrariesThatWrapTheClientAreInTheMetadata(t *testing.T) {
	in(t, func(o *options.ClientOptions) {
		o.SetDriverInfo(&options.DriverInfo{Name: "library", Version: "1.2", Platform: "Library Platform"})
	}, func(w *world) {
		var mu sync.Mutex
		var sent []bson.Raw
		defer w.set.Use("isMaster", mongotest.Decide(func(q *mongotest.Request) mongotest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if client, ok := q.Body.Lookup("client").DocumentOK(); ok {
				sent = append(sent, append(bson.Raw(nil), client...))
			}
			return mongotest.Fault{}
		}))()
		last := func() (driver, version, platform string) {
			mu.Lock()
			defer mu.Unlock()
			if len(sent) == 0 {
				t.Fatal("no connection was made")
			}
			client := sent[len(sent)-1]
			sent = nil
			return client.Lookup("driver", "name").StringValue(), client.Lookup("driver", "version").StringValue(),
				client.Lookup("platform").StringValue()
		}
		w.seed()
		w.pass(time.Minute) // until the monitors have all their connections
		w.must(findOne(w))
		driver, version, platform := last()
		if driver != "holdfast|library" || !strings.HasSuffix(version, "|1.2") || !strings.HasSuffix(platform, "|Library Platform") {
			t.Errorf("the metadata has %q, %q, %q", driver, version, platform)
		}
		w.client.AppendDriverInfo(options.DriverInfo{Name: "framework", Version: "2.0"})
		w.client.AppendDriverInfo(options.DriverInfo{Name: "framework", Version: "2.0"})
		w.must(findOne(w))
		mu.Lock()
		if len(sent) != 0 {
			t.Error("a connection was made although one was idle")
		}
		mu.Unlock()
		w.set.Use("find", mongotest.FaultOnce(loseReply))
		w.must(findOne(w))
		driver, version, platform = last()
		if driver != "holdfast|library|framework" || !strings.HasSuffix(version, "|1.2|2.0") || !strings.HasSuffix(platform, "|Library Platform") {
			t.Errorf("the metadata has %q, %q, %q", driver, version, platform)
		}
	})
}
