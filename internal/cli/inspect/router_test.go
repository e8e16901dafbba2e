package inspect

import (
	"context"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// routerTo starts a router in front of a deployment, and returns its URI when the router knows the member that takes writes.
func routerTo(t *testing.T, rs *mongotest.Deployment) string {
	t.Helper()
	r, err := router.New(router.Config{Upstream: options.Client().ApplyURI(rs.URI())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go r.Serve(l)
	known, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.WatchReady(known, func(_ string, ready bool) {
		if ready {
			cancel()
		}
	})
	return "mongodb://" + l.Addr().String() + "/"
}

// What is behind a router is judged as if the client saw it itself: a router is no sharded cluster.
func TestARouterIsRecognised(t *testing.T) {
	set, alone, sharded := mongotest.RunReplicaSetT(t, 2), mongotest.RunStandaloneT(t), mongotest.RunShardedT(t, 1, 1)
	for _, c := range []struct {
		name, uri, text string
		levels          map[string]Level
	}{
		{"a set", routerTo(t, set), "a router in front of replica set rs0, with a primary", map[string]Level{
			idMongos: Warning, idShards: "", idPrimary: OK, idSetSize: Warning, idVoters: Warning, idWriteConcern: OK, idStandalone: "",
		}},
		{"a standalone", routerTo(t, alone), "a router in front of a standalone server", map[string]Level{
			idMongos: Warning, idShards: "", idPrimary: "", idSetSize: "", idStandalone: Problem,
		}},
		{"a mongos", sharded.URI(), "sharded cluster", map[string]Level{idMongos: Warning, idShards: OK}},
	} {
		r := Check(facts(t, c.uri))
		if r.Deployment != c.text {
			t.Errorf("%s: %q, want %q", c.name, r.Deployment, c.text)
		}
		for id, want := range c.levels {
			if got := levelOf(r, id); got != want {
				t.Errorf("%s: %s is %q, want %q: %+v", c.name, id, got, want, r.Findings)
			}
		}
	}
}

func TestARouterInWords(t *testing.T) {
	for text, r := range map[string]Router{
		"a router in front of replica set rs0, without a primary": {SetName: "rs0"},
		"a router, which does not know its members yet":           {},
	} {
		if got := topologyText(&View{Kind: "Sharded", Router: &r}); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	if text := strings.Join(strings.Fields(topologyText(&View{Kind: "Sharded"})), " "); text != "sharded cluster" {
		t.Error(text)
	}
}
