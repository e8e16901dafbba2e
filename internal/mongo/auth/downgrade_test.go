package auth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
)

// weaker is a server that lists mechanisms of its choice and knows the user by SCRAM-SHA-1 only. It answers a conversation of
// any mechanism as well as it can with that.
type weaker struct {
	refuses bool // refuses each mechanism but SCRAM-SHA-1, instead of answering it
	atOnce  bool // says that the login is complete in its first reply

	server   // of SCRAM-SHA-1
	other    string
	messages string // the SCRAM messages so far, for the signature
}

func newWeaker(refuses, atOnce bool) *weaker {
	return &weaker{refuses: refuses, atOnce: atOnce, server: server{mechanism: SCRAMSHA1}}
}

func (w *weaker) answer(command bson.Raw) ([]byte, error) {
	_, payload := command.Lookup("payload").Binary()
	mechanism, first := command.Lookup("mechanism").StringValueOK()
	switch {
	case first && w.atOnce:
		w.commands = append(w.commands, command)
		return reply{done: true, payload: "v=" + base64.StdEncoding.EncodeToString(make([]byte, sha1.Size))}.document(), nil
	case first && mechanism != SCRAMSHA1 && w.refuses:
		w.commands = append(w.commands, command)
		return nil, errRefused
	case first && mechanism != SCRAMSHA1:
		w.other = mechanism
		w.commands = append(w.commands, command)
		bare := strings.TrimPrefix(string(payload), "n,,")
		_, nonce, _ := strings.Cut(bare, "r=")
		challenge := fmt.Sprintf("r=%sserver,s=%s,i=4096", nonce, base64.StdEncoding.EncodeToString([]byte("salt")))
		w.messages = bare + "," + challenge
		return reply{payload: challenge}.document(), nil
	case !first && w.other != "":
		w.commands = append(w.commands, command)
		final, _, _ := strings.Cut(string(payload), ",p=")
		return reply{done: true, payload: "v=" + w.signature(w.messages+","+final)}.document(), nil
	}
	return w.server.answer(command)
}

// signature is the proof of SCRAM-SHA-1 that the server knows the user.
func (w *weaker) signature(messages string) string {
	sum := md5.Sum([]byte(username + ":mongo:" + password))
	client, err := scram.SHA1.NewClientUnprepped(username, hex.EncodeToString(sum[:]), "")
	if err != nil {
		panic(err)
	}
	known, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: scramclient.LeastIterations})
	if err != nil {
		panic(err)
	}
	h := hmac.New(sha1.New, known.ServerKey)
	h.Write([]byte(messages))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// send implements RoundTrip.
func (w *weaker) send(_ context.Context, _ string, command []byte) ([]byte, error) {
	return w.answer(commandDocument(command))
}

// mechanisms returns the mechanisms of the logins that the server was asked for.
func (w *weaker) mechanisms() []string {
	var all []string
	for _, command := range w.commands {
		if m, ok := command.Lookup("mechanism").StringValueOK(); ok {
			all = append(all, m)
		}
	}
	return all
}

// A server cannot choose a weaker mechanism than the one that the application gave or that it has listed itself. It never gets
// the password. Source: Driver Authentication, "Defaults" and "Mechanism Negotiation": without a given mechanism the client
// uses SCRAM-SHA-256 if it is listed, else SCRAM-SHA-1, and no other one.
func TestADowngradeOfTheMechanismIsRefused(t *testing.T) {
	both := []string{SCRAMSHA256, SCRAMSHA1}
	for _, c := range []struct {
		name    string
		given   string
		listed  []string
		server  *weaker
		asked   []string
		succeed bool
	}{
		{"a given SCRAM-SHA-256, and the server lists SCRAM-SHA-1", SCRAMSHA256, []string{SCRAMSHA1}, newWeaker(true, false), []string{SCRAMSHA256}, false},
		{"a given SCRAM-SHA-256, and the server lists PLAIN", SCRAMSHA256, []string{Plain}, newWeaker(true, false), []string{SCRAMSHA256}, false},
		{"a given SCRAM-SHA-256, and the server lists nothing", SCRAMSHA256, nil, newWeaker(true, false), []string{SCRAMSHA256}, false},
		{"a given SCRAM-SHA-256 that is answered with the proof of SCRAM-SHA-1", SCRAMSHA256, []string{SCRAMSHA1}, newWeaker(false, false), []string{SCRAMSHA256}, false},
		{"a given SCRAM-SHA-256 that is said to be complete at once", SCRAMSHA256, []string{SCRAMSHA1}, newWeaker(false, true), []string{SCRAMSHA256}, false},
		{"a given SCRAM-SHA-1, and the server lists PLAIN", SCRAMSHA1, []string{Plain}, newWeaker(false, true), []string{SCRAMSHA1}, false},
		{"the default, and the server refuses SCRAM-SHA-256 that it has listed", "", both, newWeaker(true, false), []string{SCRAMSHA256}, false},
		{"the default that is answered with the proof of SCRAM-SHA-1", "", both, newWeaker(false, false), []string{SCRAMSHA256}, false},
		{"the default that is said to be complete at once", "", both, newWeaker(false, true), []string{SCRAMSHA256}, false},
		{"the default, and the server lists PLAIN only", "", []string{Plain, "MONGODB-CR", "GSSAPI"}, newWeaker(true, false), []string{SCRAMSHA1}, true},
		{"the default, and the server lists PLAIN only and says that the login is complete", "", []string{Plain}, newWeaker(true, true), []string{SCRAMSHA1}, false},
	} {
		for _, speculative := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/speculative %t", c.name, speculative), func(t *testing.T) {
				w := newWeaker(c.server.refuses, c.server.atOnce)
				l := authenticator(t, c.given).Begin("db.example")
				var answer []byte
				if speculative {
					first, err := l.Speculative(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					answer, _ = w.answer(first)
				}
				err := l.Finish(t.Context(), c.listed, answer, w.send)
				var failed *Error
				if c.succeed && answer == nil && err != nil || (!c.succeed || answer != nil) && !errors.As(err, &failed) {
					t.Errorf("error %v", err)
				}
				if w.other != "" && !strings.Contains(err.Error(), "server validation failed") {
					t.Errorf("the proof of another mechanism: %v", err)
				}
				asked := w.mechanisms()
				if speculative {
					asked = asked[1:] // with hello, before anything was listed
					if w.mechanisms()[0] != l.authenticator.first.Name() || answer != nil && len(asked) > 0 {
						t.Errorf("the client asked for %v", w.mechanisms())
					}
				}
				if answer == nil && !slices.Equal(asked, c.asked) {
					t.Errorf("the client asked for %v after hello, want %v", asked, c.asked)
				}
				for _, command := range w.commands {
					if bytes.Contains(command, []byte(password)) {
						t.Errorf("the server got the password: %v", command)
					}
				}
			})
		}
	}
}
