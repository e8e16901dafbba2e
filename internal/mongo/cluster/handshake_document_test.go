package cluster

import (
	"slices"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Sources: MongoDB Handshake, Driver Authentication, Load Balancer and Stable API specifications.
func TestTheFirstHelloHasTheFieldsOfTheHandshake(t *testing.T) {
	strict, deprecation := true, false
	base := []string{"isMaster", "helloOk", "backpressure", "client", "compression"}
	modern := []string{"hello", "helloOk", "backpressure", "client", "compression"}
	for _, c := range []struct {
		name      string
		handshake Handshake
		keys      []string
		added     bson.D
	}{
		{"an empty handshake adds no field, and the list of compressors is empty", Handshake{}, base, bson.D{{Key: "compression", Value: bson.A{}}}},
		{"the application's name is in the metadata", Handshake{AppName: "app"}, base, nil},
		{
			"compressors are sent in their order",
			Handshake{Compressors: []string{"zstd", "zlib"}},
			base,
			bson.D{{Key: "compression", Value: bson.A{"zstd", "zlib"}}},
		},
		{
			"one compressor is sent too",
			Handshake{Compressors: []string{"zlib"}},
			base,
			bson.D{{Key: "compression", Value: bson.A{"zlib"}}},
		},
		{
			"with a load balancer the command is hello",
			Handshake{LoadBalanced: true},
			modern,
			bson.D{{Key: "loadBalanced", Value: true}},
		},
		{
			"with an API version the command is hello",
			Handshake{ServerAPI: &ServerAPI{Version: "1"}},
			modern,
			bson.D{{Key: "apiVersion", Value: "1"}},
		},
		{
			"the settings of the API version are sent",
			Handshake{ServerAPI: &ServerAPI{Version: "1", Strict: &strict, DeprecationErrors: &deprecation}},
			modern,
			bson.D{{Key: "apiVersion", Value: "1"}, {Key: "apiStrict", Value: true}, {Key: "apiDeprecationErrors", Value: false}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent := firstHello(t, &c.handshake, nil)
			var keys []string
			elements, err := sent.Elements()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range elements {
				keys = append(keys, e.Key())
			}
			want := slices.Clone(c.keys)
			for _, e := range c.added {
				want = append(want, e.Key)
			}
			slices.Sort(keys)
			slices.Sort(want)
			want = slices.Compact(want)
			if !slices.Equal(keys, want) {
				t.Errorf("the hello has %v, want %v", keys, want)
			}
			for _, e := range c.added {
				added, _ := bson.Marshal(bson.D{e})
				if got := sent.Lookup(e.Key); !got.Equal(bson.Raw(added).Lookup(e.Key)) {
					t.Errorf("%s is %v, want %v", e.Key, got, e.Value)
				}
			}
			if name, _ := sent.Lookup("client", "application", "name").StringValueOK(); name != c.handshake.AppName {
				t.Errorf("the application is %q", name)
			}
		})
	}
}

func TestEveryHelloOfAConnectionDeclaresTheAPIVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		api := &ServerAPI{Version: "1"}
		c := start(t, network{addrA: p}, func(cfg *Config) { cfg.Handshake.ServerAPI = api })
		selected(t, c)
		pass(t, c.cfg.HeartbeatInterval)
		p.set(func(p *peer) {
			if len(p.asked) < 2 {
				t.Errorf("%d hellos were sent, want two at least", len(p.asked))
			}
			for _, q := range p.asked {
				if q.header.OpCode != wire.OpMsg {
					t.Errorf("a hello has the operation code %d", q.header.OpCode)
				}
			}
		})
		later := c.cfg.Handshake.appendLater(nil, false)
		if name := string(later[1:6]); name != "hello" {
			t.Errorf("a later hello begins with %q", name)
		}
	})
}

// Source: Driver Authentication, "Defaults"; MongoDB Handshake, "speculativeAuthenticate".
func TestTheFirstHelloOfAConnectionThatLogsIn(t *testing.T) {
	for _, c := range []struct {
		name       string
		credential auth.Credential
		user       string // saslSupportedMechs
		command    string // the first field of speculativeAuthenticate
	}{
		{"the default asks for the user's mechanisms and tries SCRAM-SHA-256", auth.Credential{Username: "u", Password: "p"}, "admin.u", "saslStart"},
		{"a given mechanism does not ask", auth.Credential{Mechanism: auth.SCRAMSHA1, Username: "u", Password: "p"}, "", "saslStart"},
		{"MONGODB-X509 tries too", auth.Credential{Mechanism: auth.X509}, "", "authenticate"},
		{"PLAIN does not show its password in a hello", auth.Credential{Mechanism: auth.Plain, Username: "u", Password: "p"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := auth.New(c.credential)
			if err != nil {
				t.Fatal(err)
			}
			sent := firstHello(t, &Handshake{}, a)
			if user, _ := sent.Lookup("saslSupportedMechs").StringValueOK(); user != c.user {
				t.Errorf("saslSupportedMechs is %q, want %q", user, c.user)
			}
			var command string
			if tried, ok := sent.Lookup("speculativeAuthenticate").DocumentOK(); ok {
				command = tried.Index(0).Key()
			}
			if command != c.command {
				t.Errorf("speculativeAuthenticate begins with %q, want %q", command, c.command)
			}
		})
	}
}
