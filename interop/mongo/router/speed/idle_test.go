package speed

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// idleClients is how many of them are measured.
const idleClients = 2000

// ofAnIdleClient returns the KiB that an idle client takes. It has had a find answered before.
func (s *subject) ofAnIdleClient(t *testing.T, dial func() net.Conn) float64 {
	t.Helper()
	add := func(n int) {
		for range n {
			finds(t, dial(), 1)
		}
	}
	add(many) // what all share is there afterwards
	before := s.ask(t, "memory")
	add(idleClients)
	return float64(s.ask(t, "memory")-before) / idleClients / 1024
}

func TestFigureOfAnIdleClient(t *testing.T) {
	router := start(t, "router", startCanned(t).Plain)
	kib := router.ofAnIdleClient(t, func() net.Conn { return router.dial(t) })
	fmt.Printf("figure router-idle-client-kib %.1f\n", kib)
	if kib > 8 {
		t.Errorf("an idle client costs %.1f KiB, over 8", kib)
	}
}

func TestFigureOfAnIdleClientWithTLS(t *testing.T) {
	router := start(t, "router with TLS and users", startCanned(t).Plain)
	user, err := scram.SHA256.NewClient(userName, userPassword, "")
	if err != nil {
		t.Fatal(err)
	}
	kib := router.ofAnIdleClient(t, func() net.Conn {
		c := tls.Client(router.dial(t), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
		logIn(t, c, user)
		return c
	})
	fmt.Printf("figure router-idle-tls-client-kib %.1f\n", kib)
	if kib > 24 {
		t.Errorf("an idle client with TLS costs %.1f KiB, over 24", kib)
	}
}

// logIn logs a user in.
func logIn(t *testing.T, c net.Conn, user *scram.Client) {
	t.Helper()
	conversation, last := user.NewConversation(), ""
	for command := "saslStart"; !conversation.Done(); command = "saslContinue" {
		payload, err := conversation.Step(last)
		if err != nil {
			t.Fatal(err)
		}
		request := bson.D{{Key: command, Value: 1}, {Key: "conversationId", Value: 1}}
		if command == "saslStart" {
			request = bson.D{{Key: command, Value: 1}, {Key: "mechanism", Value: "SCRAM-SHA-256"}}
			request = append(request, bson.E{Key: "options", Value: bson.D{{Key: "skipEmptyExchange", Value: true}}})
		}
		if conversation.Done() {
			return
		}
		last = exchange(t, c, append(request, bson.E{Key: "payload", Value: []byte(payload)}, bson.E{Key: "$db", Value: "admin"}))
	}
}

// exchange sends a command of a login, and returns the payload of the reply.
func exchange(t *testing.T, c net.Conn, command bson.D) string {
	t.Helper()
	document, err := bson.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	if _, err := c.Write(wire.EndMessage(append(b, document...), at)); err != nil {
		t.Fatal(err)
	}
	reply, err := readMessage(c, make([]byte, 1<<10))
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.ParseMsg(reply)
	if err != nil {
		t.Fatal(err)
	}
	_, payload, ok := bson.Raw(m.Body).Lookup("payload").BinaryOK()
	if !ok {
		t.Fatalf("the reply to a login is %s", bson.Raw(m.Body))
	}
	return string(payload)
}
