package cluster

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Sources: MongoDB Handshake, Driver Authentication, Load Balancer and Stable API specifications.
func TestTheFirstHelloHasTheFieldsOfTheHandshake(t *testing.T) {
	strict, deprecation := true, false
	base := []string{"isMaster", "helloOk", "backpressure", "client"}
	modern := []string{"hello", "helloOk", "backpressure", "client"}
	speculative := bson.D{{Key: "saslStart", Value: int32(1)}}
	for _, c := range []struct {
		name      string
		handshake Handshake
		keys      []string
		added     bson.D
	}{
		{"an empty handshake adds no field", Handshake{}, base, nil},
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
			"saslSupportedMechs names a user",
			Handshake{Mechanisms: "admin.u"},
			base,
			bson.D{{Key: "saslSupportedMechs", Value: "admin.u"}},
		},
		{
			"speculative authentication is sent with hello",
			Handshake{Speculative: func() ([]byte, error) { return bson.Marshal(speculative) }},
			base,
			bson.D{{Key: "speculativeAuthenticate", Value: speculative}},
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
			sent := firstHello(t, &c.handshake)
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

func TestAnErrorOfSpeculativeFailsTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("no credentials")
		p := &peer{hello: standalone()}
		s := bare(t, p, func(cfg *Config) {
			cfg.Handshake.Speculative = func() ([]byte, error) { return nil, failed }
		})
		found(t, s, standalone())
		_, err := s.CheckOut(t.Context())
		var handshake *HandshakeError
		if !errors.As(err, &handshake) || !errors.Is(err, failed) || handshake.Network || handshake.Connecting {
			t.Errorf("error %+v, want a HandshakeError without Network and Connecting", err)
		}
		if len(p.asked) != 0 {
			t.Error("a hello was sent")
		}
		counters(t, s, 0, 0, 0)
	})
}
