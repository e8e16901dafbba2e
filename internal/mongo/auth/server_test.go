package auth

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	username = "user"
	password = "pencil"
)

// reply is a reply of the scripted server to a step of a SASL conversation.
type reply struct {
	done    bool
	payload string
}

func (r reply) document() []byte {
	return document(bson.D{
		{Key: "conversationId", Value: int32(7)},
		{Key: "done", Value: r.done},
		{Key: "payload", Value: []byte(r.payload)},
		{Key: "ok", Value: 1.0},
	})
}

func document(d bson.D) []byte {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

// server is a server that knows one user. change may replace its n-th reply, from 0.
type server struct {
	mechanism  string
	iterations int
	keepEmpty  bool // does not know skipEmptyExchange
	change     func(n int, honest reply) reply

	scram    *scram.ServerConversation
	replies  int
	commands []bson.Raw
	database string
}

var errRefused = errors.New("authentication failed")

// send implements RoundTrip.
func (s *server) send(_ context.Context, database string, command []byte) ([]byte, error) {
	s.database = database
	return s.answer(commandDocument(command))
}

// commandDocument returns the document with the elements of a command.
func commandDocument(elements []byte) bson.Raw {
	at, doc := wire.BeginDocument(nil)
	return wire.EndDocument(append(doc, elements...), at)
}

func (s *server) answer(command bson.Raw) ([]byte, error) {
	s.commands = append(s.commands, command)
	if command.Lookup("authenticate").Type != 0 {
		return document(bson.D{{Key: "ok", Value: 1.0}}), nil
	}
	_, payload := command.Lookup("payload").Binary()
	if mechanism, ok := command.Lookup("mechanism").StringValueOK(); ok {
		if mechanism == Plain {
			return s.reply(reply{done: true})
		}
		if mechanism != s.mechanism {
			return nil, errRefused
		}
		s.scram = s.begin()
	}
	if s.scram.Done() {
		return s.reply(reply{done: true})
	}
	answer, err := s.scram.Step(string(payload))
	if err != nil {
		return nil, errRefused
	}
	return s.reply(reply{payload: answer, done: s.scram.Done() && !s.keepEmpty})
}

func (s *server) reply(r reply) ([]byte, error) {
	if s.change != nil {
		r = s.change(s.replies, r)
	}
	s.replies++
	return r.document(), nil
}

func (s *server) begin() *scram.ServerConversation {
	hash, secret := scram.SHA256, password
	if s.mechanism == SCRAMSHA1 {
		sum := md5.Sum([]byte(username + ":mongo:" + password))
		hash, secret = scram.SHA1, hex.EncodeToString(sum[:])
	}
	client, err := hash.NewClientUnprepped(username, secret, "")
	if err != nil {
		panic(err)
	}
	if s.iterations == 0 {
		s.iterations = scramclient.LeastIterations
	}
	known, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: s.iterations})
	if err != nil {
		panic(err)
	}
	server, err := hash.NewServer(func(string) (scram.StoredCredentials, error) { return known, nil })
	if err != nil {
		panic(err)
	}
	return server.NewConversation()
}

// names returns the names of the commands that the server got.
func (s *server) names() []string {
	var names []string
	for _, c := range s.commands {
		e, _ := c.Elements()
		names = append(names, e[0].Key())
	}
	return names
}

func authenticator(t testing.TB, mechanism string) *Authenticator {
	t.Helper()
	c := Credential{Mechanism: mechanism, Username: username, Password: password}
	if mechanism == X509 {
		c.Password = ""
	}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// login logs in like a connection: the first message with hello if speculative is true, the rest after it.
func login(t testing.TB, a *Authenticator, s *server, speculative bool, mechanisms ...string) error {
	t.Helper()
	l := a.Begin("db.example")
	var answer []byte
	if speculative {
		first, err := l.Speculative(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first != nil {
			answer, _ = s.answer(first) // a server leaves the field out if it refuses
		}
	}
	return l.Finish(t.Context(), mechanisms, answer, s.send)
}

func wantNames(t *testing.T, s *server, want ...string) {
	t.Helper()
	if got := s.names(); !slices.Equal(got, want) {
		t.Errorf("the server got %v, want %v", got, want)
	}
}
