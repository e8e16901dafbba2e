package differential

import (
	"flag"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/router"
)

var routed = flag.Int("routed", 1_000, "how many random commands are sent to the real server with and without a router; the figures are over 10,000")

// throughRouter starts a router in front of the real server and returns how it is reached.
func throughRouter(t testing.TB) func() (net.Conn, error) {
	t.Helper()
	r, err := router.New(router.Config{Upstream: options.Client().ApplyURI(spectest.Server(t))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go r.Serve(l)
	return func() (net.Conn, error) { return net.DialTimeout("tcp", l.Addr().String(), time.Minute) }
}

// newRoutedPair returns the real server twice: through a router, where the database has another name, and without one.
func newRoutedPair(t testing.TB, name string) *pair {
	t.Helper()
	db, as := fmt.Sprintf("differential_%d_%s", os.Getpid(), name), fmt.Sprintf("differential-%d-%s", os.Getpid(), name)
	p := &pair{db: db, ours: &server{dial: throughRouter(t), db: db, as: as}, theirs: &server{dial: authority(t)}}
	t.Cleanup(func() {
		for _, s := range []*server{p.ours, p.theirs} {
			_, _ = s.run(bson.D{{Key: "dropDatabase", Value: 1}, {Key: "$db", Value: db}})
		}
	})
	return p
}

// TestRandomCommandsThroughARouter: a router changes nothing of a reply, and this server refuses each command with an lsid.
func TestRandomCommandsThroughARouter(t *testing.T) {
	c := newCampaign(t)
	c.compare(*routed, newRoutedPair)
	for _, problem := range c.problems() {
		t.Error(problem)
	}
	fmt.Printf("figure router-engine-commands %d\n", c.asked.Load())
	fmt.Printf("figure router-engine-differences %d\n", c.differing.Load())
}
