package kv

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/scramclient"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

const (
	username = "user"
	password = "pencil"
	theMap   = `{"rev":1}`
	theError = `{"version":2,"revision":9,"errors":{"9":{"name":"LOCKED","desc":"","attrs":["retry-now"]}}}`
)

// server is the script of one connection of a node. Its zero value accepts everything and answers every request after the handshake by
// answer.
type server struct {
	accept     []memd.Feature
	mechanisms string
	quiet      bool // the server does not say why a read fails: the client may end TLS at any time
	onlyListed bool // the mechanisms that are not listed are refused
	// change replaces the honest answer to a step of the handshake. It returns false to hang up.
	change func(request memd.Packet, honest *memd.Packet) bool
	before memd.Packet   // sent before each answer of the handshake, if it has a magic
	after  []memd.Packet // sent together with the last answer of the handshake
	// answer, if set, deals with the requests after the handshake. By default they get success with the value of the request.
	answer func(p *peer, request memd.Packet)

	login    *scram.ServerConversation
	requests []memd.Packet // of the handshake
}

// names returns the names of the steps of the handshake.
func (s *server) names() string {
	var names []string
	for _, r := range s.requests {
		names = append(names, r.Opcode.String())
	}
	return strings.Join(names, " ")
}

// peer is the server's end of a connection.
type peer struct {
	t  testing.TB
	nc net.Conn
	in readBuffer
}

// receive returns the next packet, with its own memory.
func (p *peer) receive() (memd.Packet, error) {
	for {
		b, err := p.in.next()
		if err != nil {
			return memd.Packet{}, err
		}
		if b != nil {
			return memd.Parse(append([]byte(nil), b...))
		}
		n, err := p.nc.Read(p.in.room())
		if p.in.add(n); err != nil {
			return memd.Packet{}, err
		}
	}
}

func (p *peer) send(packets ...memd.Packet) {
	var b []byte
	for i := range packets {
		var err error
		if b, err = packets[i].Append(b); err != nil {
			p.t.Error(err)
		}
	}
	_, _ = p.nc.Write(b)
}

// reply returns a successful answer with the value of the request.
func reply(r memd.Packet) memd.Packet {
	return memd.Packet{Magic: memd.MagicResponse, Opcode: r.Opcode, Opaque: r.Opaque, Value: r.Value}
}

func push(version memd.MapVersion, value string) memd.Packet {
	return memd.Packet{
		Magic: memd.MagicServerRequest, Opcode: memd.ServerOpClusterMap, Extras: memd.AppendMapVersion(nil, version), Value: []byte(value),
	}
}

// serve plays the script until the connection ends.
func (s *server) serve(t testing.TB, nc net.Conn) {
	p := &peer{t: t, nc: nc}
	defer nc.Close()
	for handshaking := true; ; {
		r, err := p.receive()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrUnexpectedEOF) {
				var op *net.OpError
				if !errors.As(err, &op) && !s.quiet {
					t.Error("the server reads:", err)
				}
			}
			return
		}
		if handshaking && isHandshake(r.Opcode) {
			s.requests = append(s.requests, r)
			honest := s.step(t, r)
			if s.change != nil && !s.change(r, &honest) {
				return
			}
			if s.before.Magic != 0 {
				p.send(s.before)
			}
			if r.Opcode == memd.OpGetClusterConfig {
				p.send(append([]memd.Packet{honest}, s.after...)...)
			} else {
				p.send(honest)
			}
			continue
		}
		handshaking = false
		if s.answer == nil {
			p.send(reply(r))
		} else {
			s.answer(p, r)
		}
	}
}

func isHandshake(op memd.Opcode) bool {
	switch op { //nolint:exhaustive // the others are no steps
	case memd.OpHello, memd.OpGetErrorMap, memd.OpSASLListMechanisms, memd.OpSASLAuth, memd.OpSASLStep, memd.OpSelectBucket, memd.OpGetClusterConfig:
		return true
	}
	return false
}

// step returns the honest answer to a step of the handshake.
func (s *server) step(t testing.TB, r memd.Packet) memd.Packet {
	answer := reply(r)
	answer.Value = nil
	switch r.Opcode { //nolint:exhaustive // the others have no value
	case memd.OpHello:
		answer.Value = memd.AppendFeatures(nil, s.accept...)
	case memd.OpGetErrorMap:
		answer.Value = []byte(theError)
	case memd.OpSASLListMechanisms:
		answer.Value = []byte(s.mechanisms)
	case memd.OpSASLAuth:
		s.login = nil
		if s.onlyListed && !slices.Contains(strings.Fields(s.mechanisms), string(r.Key)) {
			answer.Status = memd.StatusAuthError
			break
		}
		if string(r.Key) == Plain {
			if string(r.Value) != "\x00"+username+"\x00"+password {
				answer.Status = memd.StatusAuthError
			}
			break
		}
		s.login = scramServer(t, string(r.Key))
		s.scramStep(&answer, r.Value)
	case memd.OpSASLStep:
		s.scramStep(&answer, r.Value)
	case memd.OpGetClusterConfig:
		answer.Value = []byte(theMap)
	}
	return answer
}

func (s *server) scramStep(answer *memd.Packet, payload []byte) {
	if s.login == nil {
		answer.Status = memd.StatusAuthError
		return
	}
	text, err := s.login.Step(string(payload))
	answer.Value = []byte(text)
	switch {
	case err != nil:
		answer.Status = memd.StatusAuthError
	case !s.login.Done():
		answer.Status = memd.StatusAuthContinue
	}
}

// scramServer returns nil for a mechanism that the server does not have.
func scramServer(t testing.TB, name string) *scram.ServerConversation {
	hash, ok := map[string]scram.HashGeneratorFcn{ScramSHA512: scram.SHA512, ScramSHA256: scram.SHA256, ScramSHA1: scram.SHA1}[name]
	if !ok {
		return nil
	}
	client, err := hash.NewClientUnprepped(username, password, "")
	if err != nil {
		t.Error(err)
		return nil
	}
	known, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: scramclient.LeastIterations})
	if err != nil {
		t.Error(err)
		return nil
	}
	knows, err := hash.NewServer(func(string) (scram.StoredCredentials, error) { return known, nil })
	if err != nil {
		t.Error(err)
		return nil
	}
	return knows.NewConversation()
}

const nodeAddress = "node:11210"

// start returns a configuration whose connections reach the script. Each connection plays it from the beginning.
func (s *server) start(t testing.TB) *Config {
	t.Helper()
	return &Config{Agent: "test", Dial: func(context.Context, string, string) (net.Conn, error) {
		client, node := memnet.Pipe()
		go s.serve(t, node)
		return client, nil
	}}
}

// connect returns a connection to the script, which ends with the test.
func (s *server) connect(t testing.TB, c *Config) *Conn {
	t.Helper()
	if c == nil {
		c = s.start(t)
	}
	conn, err := Connect(context.Background(), c, nodeAddress, "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(nil) })
	return conn
}

// pass lets the fake clock pass.
func pass(d time.Duration) { <-time.After(d) }

func soon(d time.Duration) time.Time { return time.Now().Add(d) }
