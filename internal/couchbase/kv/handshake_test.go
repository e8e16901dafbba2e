package kv

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

const all = "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1 PLAIN"

func login(t testing.TB, c Credential) *Login {
	t.Helper()
	if c.Username == "" {
		c.Username, c.Password = username, password
	}
	l, err := NewLogin(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// slow returns a configuration for a network on which a round trip takes one second, and the dial half a second.
func (s *server) slow(t *testing.T) *Config {
	t.Helper()
	return s.on(t, memnet.New(memnet.Config{MinLatency: time.Second / 2, MaxLatency: time.Second / 2}))
}

// on returns a configuration for a network on which the script is the node.
func (s *server) on(t *testing.T, network *memnet.Network) *Config {
	t.Helper()
	l, err := network.Listen(nodeAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(t, nc)
		}
	}()
	return &Config{Agent: "test", Dial: network.DialContext}
}

// Source: RFC 0048, the pipelined handshake. A round trip is the wait for an answer, after the dial.
func TestTheRoundTripsOfTheHandshake(t *testing.T) {
	plain := []string{Plain}
	for _, c := range []struct {
		name       string
		credential *Credential
		listed     string
		bucket     string
		roundTrips int
		steps      string
	}{
		{"without a login", nil, "", "b", 1, "HELLO GET_ERROR_MAP SELECT_BUCKET GET_CLUSTER_CONFIG"},
		{"without a bucket", nil, "", "", 1, "HELLO GET_ERROR_MAP GET_CLUSTER_CONFIG"},
		{
			"PLAIN", &Credential{Mechanisms: plain, AllowPlain: true}, all, "b", 1,
			"HELLO GET_ERROR_MAP SASL_LIST_MECHS SASL_AUTH SELECT_BUCKET GET_CLUSTER_CONFIG",
		},
		{
			"SCRAM", &Credential{}, all, "b", 2,
			"HELLO GET_ERROR_MAP SASL_LIST_MECHS SASL_AUTH SASL_STEP SELECT_BUCKET GET_CLUSTER_CONFIG",
		},
		{
			"SCRAM with a mechanism that the server lists after others", &Credential{}, "PLAIN SCRAM-SHA1", "", 3,
			"HELLO GET_ERROR_MAP SASL_LIST_MECHS SASL_AUTH SASL_AUTH SASL_STEP GET_CLUSTER_CONFIG",
		},
		{
			"PLAIN that the server does not list, then SCRAM", &Credential{Mechanisms: []string{Plain, ScramSHA256}, AllowPlain: true}, "SCRAM-SHA256", "b", 3,
			"HELLO GET_ERROR_MAP SASL_LIST_MECHS SASL_AUTH SELECT_BUCKET GET_CLUSTER_CONFIG SASL_AUTH SASL_STEP SELECT_BUCKET GET_CLUSTER_CONFIG",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{mechanisms: c.listed, onlyListed: true}
				cfg := s.slow(t)
				if c.credential != nil {
					cfg.Login = login(t, *c.credential)
				}
				began := time.Now()
				conn, err := Connect(t.Context(), cfg, nodeAddress, c.bucket)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(nil)
				if took := time.Since(began) - time.Second/2; took != time.Duration(c.roundTrips)*time.Second {
					t.Errorf("the handshake took %v; want %d s", took, c.roundTrips)
				}
				if got := s.names(); got != c.steps {
					t.Errorf("the steps are %s\nwant %s", got, c.steps)
				}
				if string(conn.FirstMap()) != theMap || conn.Bucket() != c.bucket || conn.Address() != nodeAddress {
					t.Errorf("the map is %s, the bucket %q, the address %q", conn.FirstMap(), conn.Bucket(), conn.Address())
				}
				begin(conn, get("1")).wantReply(t, "1")
			})
		})
	}
}

// A bucket that is opened while the connection is being made costs no further round trip.
func TestALateBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{mechanisms: all}
		cfg := s.slow(t)
		cfg.Login = login(t, Credential{})
		var late atomic.Bool
		cfg.LateBucket = func() string {
			if late.Load() {
				return "late"
			}
			return ""
		}
		time.AfterFunc(time.Second, func() { late.Store(true) })
		conn, err := Connect(t.Context(), cfg, nodeAddress, "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(nil)
		if conn.Bucket() != "late" || !strings.HasSuffix(s.names(), "SELECT_BUCKET GET_CLUSTER_CONFIG") {
			t.Errorf("the bucket is %q, the steps are %s", conn.Bucket(), s.names())
		}
	})
}

func TestWhatTheServerAcceptsIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{accept: []memd.Feature{memd.FeatureJSON, memd.FeatureCollections}}
		cfg := s.start(t)
		cfg.Features = []memd.Feature{memd.FeatureJSON, memd.FeatureCollections, memd.FeatureSnappy}
		cfg.ClientID = 0xabc
		c := s.connect(t, cfg)
		f := c.Features()
		if !f.Has(memd.FeatureJSON) || !f.Has(memd.FeatureCollections) || f.Has(memd.FeatureSnappy) {
			t.Errorf("the features are %b", f)
		}
		if e, ok := c.ErrorMap().Entry(memd.StatusLocked); !ok || !e.Has(memd.AttributeRetryNow) {
			t.Errorf("the error map has %+v, %v", e, ok)
		}
		hello := s.requests[0]
		want := fmt.Sprintf(`{"a":"test","i":"%s"}`, c.ID())
		if string(hello.Key) != want || !strings.HasPrefix(c.ID(), "0000000000000abc/") ||
			string(hello.Value) != string(memd.AppendFeatures(nil, cfg.Features...)) {
			t.Errorf("HELLO has the key %s and the value %x", hello.Key, hello.Value)
		}
	})
}

// status changes the answer to a step into a refusal.
func status(op memd.Opcode, s memd.Status) func(memd.Packet, *memd.Packet) bool {
	return func(r memd.Packet, honest *memd.Packet) bool {
		if r.Opcode == op {
			honest.Status, honest.Value = s, nil
		}
		return true
	}
}

// packet changes the answer to a step.
func packet(op memd.Opcode, change func(*memd.Packet)) func(memd.Packet, *memd.Packet) bool {
	return func(r memd.Packet, honest *memd.Packet) bool {
		if r.Opcode == op {
			change(honest)
		}
		return true
	}
}

// Source: RFC 0048: "A failure of GET_ERROR_MAP is not fatal".
func TestAHandshakeEndsAsTheServerSays(t *testing.T) {
	explained := func(a *memd.Packet) {
		a.Status, a.DataType, a.Value = memd.StatusAccess, memd.DataJSON, []byte(`{"error":{"context":"no such user"}}`)
	}
	for _, c := range []struct {
		name   string
		bucket string
		change func(memd.Packet, *memd.Packet) bool
		want   error // nil: it succeeds
		text   string
	}{
		{"HELLO is unknown", "b", status(memd.OpHello, memd.StatusUnknownCommand), ErrServerTooOld, "HELLO: the server is too old (status 0x81)"},
		{"the features are malformed", "b", packet(memd.OpHello, func(a *memd.Packet) { a.Value = []byte{1} }), ErrProtocol, ""},
		{"there is no error map", "b", status(memd.OpGetErrorMap, memd.StatusUnknownCommand), nil, ""},
		{"the error map is malformed", "b", packet(memd.OpGetErrorMap, func(a *memd.Packet) { a.Value = []byte("{") }), nil, ""},
		{"the list of mechanisms is refused", "b", status(memd.OpSASLListMechanisms, memd.StatusInternal), nil, ""},
		{"the bucket does not exist", "b", status(memd.OpSelectBucket, memd.StatusKeyNotFound), ErrNoBucket, "SELECT_BUCKET"},
		{"the user has no access to the bucket", "b", packet(memd.OpSelectBucket, explained), ErrNoAccess, "no such user"},
		{"the bucket is paused", "b", status(memd.OpSelectBucket, memd.StatusBucketPaused), ErrRefused, "status 0x50"},
		{"the bucket has no map", "b", status(memd.OpGetClusterConfig, memd.StatusKeyNotFound), ErrRefused, "GET_CLUSTER_CONFIG"},
		{"an old server has no map without a bucket", "", status(memd.OpGetClusterConfig, memd.StatusNoBucket), nil, ""},
		{"the map of the cluster is refused", "", status(memd.OpGetClusterConfig, memd.StatusTemporaryFailure), ErrRefused, ""},
		{"the authentication service is away", "b", status(memd.OpSASLAuth, memd.StatusTemporaryFailure), ErrRefused, "status 0x86"},
		{"the credentials are refused", "b", status(memd.OpSASLAuth, memd.StatusAuthError), ErrBadCredentials, "SASL_AUTH"},
		{"the proof is refused", "b", status(memd.OpSASLStep, memd.StatusAuthError), ErrBadCredentials, "SASL_STEP"},
		{"an answer has another opaque", "b", packet(memd.OpGetErrorMap, func(a *memd.Packet) { a.Opaque++ }), ErrProtocol, ""},
		{"an answer is to another step", "b", packet(memd.OpGetErrorMap, func(a *memd.Packet) { a.Opcode = memd.OpHello }), ErrProtocol, ""},
		{"an answer is a request", "b", packet(memd.OpGetErrorMap, func(a *memd.Packet) { a.Magic = memd.MagicRequest }), ErrProtocol, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{mechanisms: all, change: c.change}
				cfg := s.start(t)
				cfg.Login = login(t, Credential{})
				cfg.OnClose = func(*Conn, error) { t.Error("OnClose was called for a connection that was not made") }
				conn, err := Connect(t.Context(), cfg, nodeAddress, c.bucket)
				if c.want == nil {
					if err != nil {
						t.Fatal(err)
					}
					begin(conn, get("1")).wantReply(t, "1")
					cfg.OnClose = nil
					conn.Close(nil)
					return
				}
				var failed *HandshakeError
				if !errors.As(err, &failed) || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || failed.Address != nodeAddress {
					t.Errorf("error %v; want %v with %q", err, c.want, c.text)
				}
				if strings.Contains(fmt.Sprintf("%+v", err), password) {
					t.Errorf("the error shows the password: %+v", err)
				}
			})
		})
	}
}

func TestACompressedFirstMapIsInflated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{change: packet(memd.OpGetClusterConfig, func(a *memd.Packet) {
			a.DataType, a.Value = memd.DataSnappy, snappy.Encode(nil, []byte(theMap))
		})}
		if c := s.connect(t, nil); string(c.FirstMap()) != theMap {
			t.Errorf("the map is %q", c.FirstMap())
		}
	})
}

func TestAPushDuringTheHandshakeIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{before: push(memd.MapVersion{Revision: 1}, "")}
		begin(s.connect(t, nil), get("1")).wantReply(t, "1")
	})
}

// A server hangs up, or falls silent, at each step.
func TestAHandshakeThatTheServerDoesNotFinish(t *testing.T) {
	for _, op := range []memd.Opcode{
		memd.OpHello, memd.OpGetErrorMap, memd.OpSASLListMechanisms, memd.OpSASLAuth, memd.OpSASLStep, memd.OpSelectBucket, memd.OpGetClusterConfig,
	} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/silent %t", op, silent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stop := make(chan struct{})
					s := &server{mechanisms: all, change: func(r memd.Packet, _ *memd.Packet) bool {
						if r.Opcode == op && silent {
							<-stop
						}
						return r.Opcode != op
					}}
					cfg := s.start(t)
					cfg.Login = login(t, Credential{})
					cfg.Timeout = time.Second
					began := time.Now()
					_, err := Connect(t.Context(), cfg, nodeAddress, "b")
					close(stop)
					var failed *HandshakeError
					if !errors.As(err, &failed) || errors.Is(err, context.DeadlineExceeded) != silent {
						t.Errorf("error %v", err)
					}
					if took := time.Since(began); silent && took != time.Second || !silent && took != 0 {
						t.Errorf("it took %v", took)
					}
				})
			})
		}
	}
}

func TestAHandshakeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		defer close(stop)
		s := &server{change: func(memd.Packet, *memd.Packet) bool { <-stop; return false }}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := Connect(ctx, s.start(t), nodeAddress, "b"); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// A server that does not know the credentials, or asks for a weak proof, gets no connection.
func TestAnImpostorIsRefused(t *testing.T) {
	edit := func(old, with string) func(*memd.Packet) {
		return func(a *memd.Packet) { a.Value = []byte(strings.Replace(string(a.Value), old, with, 1)) }
	}
	proof := "v=" + base64.StdEncoding.EncodeToString(make([]byte, 64))
	for _, c := range []struct {
		name   string
		op     memd.Opcode
		change func(*memd.Packet)
	}{
		{"success at once", memd.OpSASLAuth, func(a *memd.Packet) { a.Status, a.Value = memd.StatusSuccess, nil }},
		{"success at once with a first message", memd.OpSASLAuth, func(a *memd.Packet) { a.Status = memd.StatusSuccess }},
		{"success at once with a proof", memd.OpSASLAuth, func(a *memd.Packet) { a.Status, a.Value = memd.StatusSuccess, []byte(proof) }},
		{"a wrong proof", memd.OpSASLStep, func(a *memd.Packet) { a.Value = []byte(proof) }},
		{"an empty proof", memd.OpSASLStep, func(a *memd.Packet) { a.Value = []byte("v=") }},
		{"no proof", memd.OpSASLStep, func(a *memd.Packet) { a.Value = nil }},
		{"an error in place of a proof", memd.OpSASLStep, func(a *memd.Packet) { a.Value = []byte("e=other-error") }},
		{"a nonce that is not ours", memd.OpSASLAuth, edit("r=", "r=x")},
		{"one iteration", memd.OpSASLAuth, edit("i=4096", "i=1")},
		{"iterations without end", memd.OpSASLAuth, edit("i=4096", "i=2000000000")},
		{"no salt", memd.OpSASLAuth, edit("s=", "x=")},
		{"an empty first message", memd.OpSASLAuth, func(a *memd.Packet) { a.Value = nil }},
	} {
		for _, mechanism := range []string{ScramSHA512, ScramSHA256, ScramSHA1} {
			t.Run(c.name+"/"+mechanism, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &server{mechanisms: all, change: packet(c.op, c.change)}
					cfg := s.start(t)
					cfg.Login = login(t, Credential{Mechanisms: []string{mechanism}})
					_, err := Connect(t.Context(), cfg, nodeAddress, "b")
					if !errors.Is(err, ErrUnprovedServer) {
						t.Errorf("error %v", err)
					}
				})
			})
		}
	}
}

// An impostor that continues a finished login, or continues PLAIN, gets no connection either.
func TestALoginThatDoesNotEndIsRefused(t *testing.T) {
	for name, credential := range map[string]Credential{"SASL_STEP": {}, "SASL_AUTH": {Mechanisms: []string{Plain}, AllowPlain: true}} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{mechanisms: all, change: func(r memd.Packet, honest *memd.Packet) bool {
				if r.Opcode.String() == name {
					honest.Status = memd.StatusAuthContinue
				}
				return true
			}}
			cfg := s.start(t)
			cfg.Login = login(t, credential)
			if _, err := Connect(t.Context(), cfg, nodeAddress, "b"); err == nil {
				t.Errorf("%s: the login succeeds", name)
			}
		})
	}
}

// The password is the cause if the server lists the mechanism. Else another one that it lists is tried, never a weaker choice than the
// credential allows.
func TestWhichMechanismIsUsed(t *testing.T) {
	wrong := Credential{Username: username, Password: "wrong"}
	for _, c := range []struct {
		name       string
		credential Credential
		listed     string
		tried      []string
		want       error
	}{
		{"the strongest first", Credential{}, all, []string{ScramSHA512}, nil},
		{"a listed one instead of one that is not", Credential{}, "SCRAM-SHA256 SCRAM-SHA1", []string{ScramSHA512, ScramSHA256}, nil},
		{"a wrong password is not tried twice", wrong, all, []string{ScramSHA512}, ErrBadCredentials},
		{"a wrong password is not tried with a third mechanism", wrong, "SCRAM-SHA1", []string{ScramSHA512, ScramSHA1}, ErrBadCredentials},
		{"never PLAIN without TLS", Credential{}, "PLAIN", []string{ScramSHA512}, ErrNoMechanism},
		{"never PLAIN without TLS although it is in the credential", Credential{Mechanisms: []string{Plain, ScramSHA1}}, "PLAIN", []string{ScramSHA1}, ErrNoMechanism},
		{"only those of the credential", Credential{Mechanisms: []string{ScramSHA256}}, "SCRAM-SHA1", []string{ScramSHA256}, ErrNoMechanism},
		{"a server that lists nothing refuses the credentials", wrong, "", []string{ScramSHA512}, ErrBadCredentials},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{mechanisms: c.listed, onlyListed: true}
				cfg := s.start(t)
				cfg.Login = login(t, c.credential)
				conn, err := Connect(t.Context(), cfg, nodeAddress, "b")
				if !errors.Is(err, c.want) {
					t.Errorf("error %v; want %v", err, c.want)
				}
				if err == nil {
					conn.Close(nil)
				}
				var tried []string
				for _, r := range s.requests {
					if r.Opcode == memd.OpSASLAuth {
						tried = append(tried, string(r.Key))
					}
					if strings.Contains(string(r.Value), password) {
						t.Errorf("%v shows the password", r.Opcode)
					}
				}
				if !slices.Equal(tried, c.tried) {
					t.Errorf("tried %q; want %q", tried, c.tried)
				}
			})
		})
	}
}

func TestABadConfigurationIsRefusedBeforeTheDial(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"a negative queue", func(c *Config) { c.MaxQueue = -1 }, "MaxQueue"},
		{"too long a queue", func(c *Config) { c.MaxQueue = 32769 }, "MaxQueue"},
		{"a negative timeout", func(c *Config) { c.Timeout = -1 }, "Timeout"},
		{"a negative size", func(c *Config) { c.CompressMinSize = -1 }, "CompressMinSize"},
		{"a ratio over 1", func(c *Config) { c.CompressMinRatio = 1.1 }, "CompressMinRatio"},
		{"only PLAIN without TLS", func(c *Config) { c.Login = login(t, Credential{Mechanisms: []string{Plain}}) }, "AllowPlain"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := &Config{Dial: func(context.Context, string, string) (net.Conn, error) {
				t.Error("the node was dialled")
				return nil, errors.New("dialled")
			}}
			c.change(cfg)
			if _, err := Connect(t.Context(), cfg, nodeAddress, "b"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

func TestABadCredentialIsRefused(t *testing.T) {
	for want, c := range map[string]Credential{
		"Username":           {Password: password},
		"zero byte":          {Username: "a\x00b", Password: password},
		`"CRAM-MD5" is unkn`: {Username: username, Mechanisms: []string{"CRAM-MD5"}},
	} {
		if _, err := NewLogin(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) {
			t.Errorf("error %v; want %q", err, want)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := Credential{Username: username, Password: password}
	for _, v := range []any{c, &c, login(t, c), struct{ C Credential }{c}, Config{Login: login(t, c)}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, password) || strings.Contains(text, fmt.Sprintf("%x", password)) {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
		}
	}
}

func TestSelectingABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := memd.StatusKeyNotFound
		s := &server{answer: func(p *peer, r memd.Packet) {
			a := reply(r)
			if r.Opcode == memd.OpSelectBucket && string(r.Key) != "b" {
				a.Status = refuse
			}
			p.send(a)
		}}
		conn, err := Connect(t.Context(), s.start(t), nodeAddress, "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(nil)
		begin(conn, get("1")).wantReply(t, "1")
		if err := conn.SelectBucket(t.Context(), "other"); !errors.Is(err, ErrNoBucket) || conn.Bucket() != "" {
			t.Errorf("error %v, the bucket is %q", err, conn.Bucket())
		}
		refuse = memd.StatusAccess
		if err := conn.SelectBucket(t.Context(), "other"); !errors.Is(err, ErrNoAccess) {
			t.Errorf("error %v", err)
		}
		if err := conn.SelectBucket(t.Context(), "b"); err != nil || conn.Bucket() != "b" {
			t.Errorf("error %v, the bucket is %q", err, conn.Bucket())
		}
	})
}
