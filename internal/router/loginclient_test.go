package router_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// scramOf is the client's side of a login, whose messages a test sends itself.
func scramOf(t testing.TB, mechanism, name, password string) *scramclient.Conversation {
	t.Helper()
	secret, ok := auth.ScramSecret(mechanism, name, password)
	if !ok {
		t.Fatal("the password is forbidden")
	}
	hash := scram.SHA256
	if mechanism == auth.SCRAMSHA1 {
		hash = scram.SHA1
	}
	m, err := scramclient.New(func() (*scram.Client, error) { return hash.NewClientUnprepped(name, secret, "") })
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := derived.LoadOrStore([3]string{mechanism, name, password}, m)
	return kept.(*scramclient.Mechanism).Begin()
}

// derived has the mechanisms of the users: they derive the keys of a password once.
var derived sync.Map

func saslStart(mechanism string, payload any, more ...bson.E) bson.D {
	return append(bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: mechanism}, {Key: "payload", Value: payload}}, more...)
}

func saslContinue(conversation, payload any) bson.D {
	return bson.D{{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: conversation}, {Key: "payload", Value: payload}}
}

// begun is a login that the router has answered once.
type begun struct {
	c     *wireClient
	scram *scramclient.Conversation
	proof []byte
}

// payload returns that of a reply.
func payload(reply bson.Raw) []byte {
	_, b, _ := reply.Lookup("payload").BinaryOK()
	return b
}

// begin begins a login of a user of the database app.
func (c *wireClient) begin(name, password string) *begun {
	c.w.Helper()
	return c.beginIn("app", auth.SCRAMSHA256, name, password)
}

func (c *wireClient) beginIn(db, mechanism, name, password string) *begun {
	c.w.Helper()
	b := &begun{c: c, scram: scramOf(c.w, mechanism, name, password)}
	first, err := b.scram.Start()
	if err != nil {
		c.w.Fatal(err)
	}
	if b.proof, err = b.scram.Next(payload(c.runIn(db, saslStart(mechanism, first)))); err != nil {
		c.w.Fatal(err)
	}
	return b
}

// prove sends the proof, and returns what the router says.
func (b *begun) prove() outcome { b.c.w.Helper(); return b.c.outcomeOf(saslContinue(1, b.proof)) }

// login logs a user of the database app in.
func (c *wireClient) login(name, password string) error {
	c.w.Helper()
	return c.loginIn("app", name, password)
}

func (c *wireClient) loginIn(db, name, password string) error {
	c.w.Helper()
	b := c.beginIn(db, auth.SCRAMSHA256, name, password)
	reply := c.run(saslContinue(1, b.proof))
	if reply.Lookup("ok").AsInt64() != 1 {
		return errors.New(reply.String())
	}
	if _, err := b.scram.Next(payload(reply)); err != nil || !b.scram.Complete() {
		return fmt.Errorf("the router's signature is wrong: %w", err)
	}
	if reply := c.run(saslContinue(1, []byte{})); reply.Lookup("done").String() != "true" {
		return errors.New(reply.String())
	}
	return nil
}

// asUser logs in a new connection.
func (w *world) asUser(name, password string) *wireClient {
	w.Helper()
	c := w.dial()
	if err := c.login(name, password); err != nil {
		w.Fatal(err)
	}
	return c
}

// isLoggedIn reports whether the router knows who the client is.
func (c *wireClient) isLoggedIn() bool { c.w.Helper(); return c.outcomeOf(d("find", "c")).Code != 13 }

// asked returns how often members were asked who a user is.
func (w *world) asked() int { return int(w.set.Counters().Commands["usersInfo"]) }
