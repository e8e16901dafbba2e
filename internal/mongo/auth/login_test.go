package auth

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Source: Driver Authentication, "Defaults", "SASL", "SCRAM-SHA-1", "SCRAM-SHA-256", "MONGODB-X509" and "PLAIN";
// MongoDB Handshake, "Speculative Authentication".
func TestALogin(t *testing.T) {
	for _, c := range []struct {
		name        string
		mechanism   string
		server      server
		speculative bool
		listed      []string
		commands    []string
		database    string
	}{
		{
			name: "SCRAM-SHA-1 without speculation takes two commands", mechanism: SCRAMSHA1,
			server: server{mechanism: SCRAMSHA1}, commands: []string{"saslStart", "saslContinue"}, database: "admin",
		},
		{
			name: "SCRAM-SHA-256 with speculation takes one command after hello", mechanism: SCRAMSHA256,
			server: server{mechanism: SCRAMSHA256}, speculative: true, commands: []string{"saslStart", "saslContinue"}, database: "admin",
		},
		{
			name: "a server that does not skip the empty exchange gets it", mechanism: SCRAMSHA256,
			server: server{mechanism: SCRAMSHA256, keepEmpty: true}, commands: []string{"saslStart", "saslContinue", "saslContinue"}, database: "admin",
		},
		{
			name: "the default is SCRAM-SHA-256 if it is listed", listed: []string{SCRAMSHA1, SCRAMSHA256},
			server: server{mechanism: SCRAMSHA256}, commands: []string{"saslStart", "saslContinue"}, database: "admin",
		},
		{
			name: "the default is SCRAM-SHA-1 if SCRAM-SHA-256 is not listed", listed: []string{SCRAMSHA1},
			server: server{mechanism: SCRAMSHA1}, commands: []string{"saslStart", "saslContinue"}, database: "admin",
		},
		{
			name:   "the default is SCRAM-SHA-1 if nothing is listed",
			server: server{mechanism: SCRAMSHA1}, commands: []string{"saslStart", "saslContinue"}, database: "admin",
		},
		{
			name: "a refused speculation begins again with the listed mechanism", listed: []string{SCRAMSHA1}, speculative: true,
			server: server{mechanism: SCRAMSHA1}, commands: []string{"saslStart", "saslStart", "saslContinue"}, database: "admin",
		},
		{
			name: "MONGODB-X509 takes one command to $external", mechanism: X509,
			commands: []string{"authenticate"}, database: "$external",
		},
		{
			name: "MONGODB-X509 with speculation takes no command after hello", mechanism: X509, speculative: true,
			commands: []string{"authenticate"},
		},
		{
			name: "PLAIN takes one command to $external, and is not sent with hello", mechanism: Plain, speculative: true,
			commands: []string{"saslStart"}, database: "$external",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := login(t, authenticator(t, c.mechanism), &c.server, c.speculative, c.listed...); err != nil {
				t.Fatal(err)
			}
			wantNames(t, &c.server, c.commands...)
			if c.server.database != c.database {
				t.Errorf("the last command went to %q, want %q", c.server.database, c.database)
			}
		})
	}
}

func TestTheFirstMessages(t *testing.T) {
	for _, c := range []struct {
		name, mechanism string
		want            string // the start of the payload
		options         bool
	}{
		{"SCRAM-SHA-1 names the user", SCRAMSHA1, "n,,n=user,r=", true},
		{"SCRAM-SHA-256 names the user", SCRAMSHA256, "n,,n=user,r=", true},
		{"PLAIN has the user and the password", Plain, "\x00user\x00pencil", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			command, err := authenticator(t, c.mechanism).first.Begin("db.example").Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			at, doc := wire.BeginDocument(nil)
			sent := bson.Raw(wire.EndDocument(append(doc, command...), at))
			if _, payload := sent.Lookup("payload").Binary(); !bytes.HasPrefix(payload, []byte(c.want)) {
				t.Errorf("the payload is %q", payload)
			}
			if skip, _ := sent.Lookup("options", "skipEmptyExchange").BooleanOK(); skip != c.options {
				t.Errorf("skipEmptyExchange is %v", skip)
			}
			if m := sent.Lookup("mechanism").StringValue(); m != c.mechanism {
				t.Errorf("the mechanism is %s", m)
			}
		})
	}
}

func TestTheSpeculativeMessageNamesItsDatabase(t *testing.T) {
	a, err := New(Credential{Source: "app", Username: username, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	l := a.Begin("db.example")
	doc, err := l.Speculative(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if db := bson.Raw(doc).Lookup("db").StringValue(); db != "app" || l.User() != "app.user" {
		t.Errorf("db is %q, saslSupportedMechs is %q", db, l.User())
	}
}

// A server that does not know the credentials, or asks for a weak proof, gets no connection.
func TestAnImpostorIsRefused(t *testing.T) {
	replace := func(at int, with reply) func(int, reply) reply {
		return func(n int, honest reply) reply {
			if n == at {
				return with
			}
			return honest
		}
	}
	edit := func(at int, old, with string) func(int, reply) reply {
		return func(n int, honest reply) reply {
			if n == at {
				honest.payload = strings.Replace(honest.payload, old, with, 1)
			}
			return honest
		}
	}
	const clientNonceLength = 32 // base64 of 24 bytes
	const proof = "v=AAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, c := range []struct {
		name   string
		server server
		want   string
	}{
		{"success at once", server{change: replace(0, reply{done: true})}, "fields"},
		{"success at once, with a first message", server{change: func(_ int, r reply) reply { r.done = true; return r }}, errTooEarly.Error()},
		{"success without a proof", server{change: replace(1, reply{done: true})}, "error parsing"},
		{"a wrong proof", server{change: replace(1, reply{done: true, payload: proof})}, "server validation failed"},
		{"an empty proof", server{change: replace(1, reply{done: true, payload: "v="})}, "server validation failed"},
		{"an error in place of a proof", server{change: replace(1, reply{done: true, payload: "e=other-error"})}, "other-error"},
		{"a nonce that is not ours", server{change: edit(0, "r=", "r=x")}, "nonce"},
		{"fewer than 4096 iterations", server{change: edit(0, "i=4096", "i=4095")}, "too few iterations"},
		{"one iteration", server{change: edit(0, "i=4096", "i=1")}, "too few iterations"},
		{"more than a million iterations, which take seconds", server{change: edit(0, "i=4096", "i=1000001")}, "more than"},
		{"a nonce that does not extend ours", server{change: func(n int, honest reply) reply {
			if nonce, rest, ok := strings.Cut(honest.payload, ","); n == 0 && ok {
				honest.payload = nonce[:len("r=")+clientNonceLength] + "," + rest
			}
			return honest
		}}, "nonce"},
		{"negative iterations", server{change: edit(0, "i=4096", "i=-4096")}, "too few iterations"},
		{"iterations without end", server{change: edit(0, "i=4096", "i=2000000000")}, "more than"},
		{"iterations that are no number", server{change: edit(0, "i=4096", "i=99999999999999999999")}, "more than"},
		{"an extension", server{change: edit(0, "r=", "m=x,r=")}, "extensions"},
		{"no salt", server{change: edit(0, "s=", "x=")}, "'s'"},
		{"an empty message", server{change: replace(0, reply{})}, "fields"},
		{"a conversation that never ends", server{keepEmpty: true, change: func(_ int, r reply) reply { r.done = false; return r }}, errNoEnd.Error()},
	} {
		for _, mechanism := range []string{SCRAMSHA1, SCRAMSHA256} {
			for _, speculative := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/speculative %t", c.name, mechanism, speculative), func(t *testing.T) {
					s := c.server
					s.mechanism = mechanism
					err := login(t, authenticator(t, mechanism), &s, speculative)
					var failed *Error
					if !errors.As(err, &failed) || failed.Mechanism != mechanism || !strings.Contains(err.Error(), c.want) {
						t.Errorf("error %v, want %q", err, c.want)
					}
				})
			}
		}
	}
}

func TestAPlainServerMustEndAtOnce(t *testing.T) {
	s := &server{change: func(_ int, r reply) reply { r.done = false; return r }}
	if err := login(t, authenticator(t, Plain), s, false); !errors.Is(err, errNoEnd) {
		t.Errorf("error %v", err)
	}
}

// Source: Driver Authentication, "SASL": a reply with a code other than 0 is an error, also if it says "ok: 1".
func TestAReplyWithACodeIsAnError(t *testing.T) {
	for _, code := range []any{int32(18), int64(18), 18.0} {
		conversation := authenticator(t, Plain).first.Begin("db.example")
		if _, err := conversation.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := conversation.Next(t.Context(), document(bson.D{
			{Key: "done", Value: true}, {Key: "payload", Value: []byte{}}, {Key: "code", Value: code}, {Key: "ok", Value: 1},
		}))
		if err == nil || !strings.Contains(err.Error(), "18") {
			t.Errorf("%T: error %v", code, err)
		}
	}
}

func TestAnAnswerToASpeculationThatWasNotMadeIsRefused(t *testing.T) {
	l := authenticator(t, Plain).Begin("db.example")
	err := l.Finish(t.Context(), nil, reply{done: true}.document(), (&server{}).send)
	if !errors.Is(err, errNotAsked) {
		t.Errorf("error %v", err)
	}
}

func TestAnErrorReplyIsTheErrorOfTheLogin(t *testing.T) {
	for _, mechanism := range []string{"", SCRAMSHA256, SCRAMSHA1} {
		a, err := New(Credential{Mechanism: mechanism, Username: username, Password: "wrong"})
		if err != nil {
			t.Fatal(err)
		}
		s := &server{mechanism: mechanism}
		if mechanism == "" {
			s.mechanism = SCRAMSHA1
		}
		if err := login(t, a, s, false); !errors.Is(err, errRefused) {
			t.Errorf("%q: error %v", mechanism, err)
		}
	}
}
