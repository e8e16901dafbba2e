package mongo_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// recorder is a dialer that dials one address and remembers what it was asked for.
type recorder struct {
	dialerTo
	mu    sync.Mutex
	asked map[string]bool
}

func (r *recorder) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	r.asked[network+" "+address] = true
	r.mu.Unlock()
	return r.dialerTo.DialContext(ctx, "tcp", "")
}

// Source: Connection String, "Unix domain sockets". The case of the path has a meaning.
func TestAUnixDomainSocketIsDialledByItsPath(t *testing.T) {
	server := mongotest.RunStandaloneT(t)
	r := &recorder{dialerTo: dialerTo(server.Addr(0)), asked: map[string]bool{}}
	o := options.Client().ApplyURI("mongodb://%2Ftmp%2FMongoDB-27017.sock/?serverSelectionTimeoutMS=2000").SetDialer(r)
	if err := read(t, o); err != nil {
		t.Error(err)
	}
	if len(r.asked) != 1 || !r.asked["unix /tmp/MongoDB-27017.sock"] {
		t.Errorf("dialled: %v", r.asked)
	}
}
