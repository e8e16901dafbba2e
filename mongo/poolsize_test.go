package mongo_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestThePoolsKeepTheirSmallestSize(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetMinPoolSize(2).SetMaxConnIdleTime(time.Minute) }, func(w *world) {
		w.pass(time.Second)
		const members = 3
		if n := w.poolEvents(event.ConnectionReady); n != 2*members {
			t.Errorf("%d connections were made, want %d", n, 2*members)
		}
		w.pass(90 * time.Second)
		if made, closed := w.poolEvents(event.ConnectionReady), w.poolEvents(event.ConnectionClosed); closed == 0 || made-closed != 2*members {
			t.Errorf("%d connections were made and %d closed", made, closed)
		}
	})
}
