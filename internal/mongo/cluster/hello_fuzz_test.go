package cluster

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// FuzzHelloReply gives arbitrary messages to the decoders of a handshake: of the reply to hello and of the
// replies to the commands of a login.
func FuzzHelloReply(f *testing.F) {
	add := func(d bson.D) {
		body, err := bson.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(msg(7, body))
	}
	add(standalone())
	add(append(standalone(), bson.E{Key: "speculativeAuthenticate", Value: bson.D{{Key: "done", Value: false}, {Key: "payload", Value: []byte("r=x")}}}))
	add(append(standalone(), bson.E{Key: "speculativeAuthenticate", Value: 1}, bson.E{Key: "saslSupportedMechs", Value: bson.A{"SCRAM-SHA-1", 5}}))
	add(append(standalone(), bson.E{Key: "compression", Value: bson.A{"zstd", 1}}, bson.E{Key: "connectionId", Value: 7.5}, bson.E{Key: "serviceId", Value: bson.ObjectID{}}))
	add(bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: 18}, {Key: "errmsg", Value: "no"}})
	f.Add([]byte{16, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 221, 7, 0, 0})
	f.Fuzz(func(t *testing.T, message []byte) {
		conn := newConn(&pieces{}, 1, addrA)
		conn.Description = &topology.Server{Address: addrA}
		message = bytes.Clone(message) // it is overwritten
		body, err := conn.msgBody(message)
		if err != nil {
			return
		}
		if !bytes.Contains(message, body) {
			t.Fatal("the body is not a part of the message")
		}
		checkHelloBody(t, conn, body)
	})
}

func checkHelloBody(t *testing.T, conn *Conn, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	description, err := conn.helloReceived(addrA, body)
	var refused *refusedHello
	if (description == nil) != (err != nil) || err != nil && (!errors.As(err, &refused) || !bytes.Equal(refused.reply, body)) {
		t.Fatalf("%v, %v", description, err)
	}
	token := speculativeReply(body)
	if v, err := bson.Raw(body).LookupErr("speculativeAuthenticate"); err == nil && bson.Raw(body).Validate() == nil {
		if want, _ := v.DocumentOK(); !bytes.Equal(token, want) {
			t.Fatalf("speculativeAuthenticate is %v, want %v", bson.Raw(token), want)
		}
	}
	var failure *topology.HelloError
	if failed := topology.ParseFailure(body); err == nil && errors.As(failed, &failure) {
		t.Fatalf("a hello is accepted that says %v", failed)
	}
	if err != nil {
		return
	}
	// What was read must not change with the connection's buffer.
	for i := range body {
		body[i] = 0xff
	}
	again, err := described(addrA, before)
	if err != nil {
		t.Fatal(err)
	}
	again.LastUpdateTime = description.LastUpdateTime
	if !description.Equal(again) {
		t.Fatalf("the description changed from %+v to %+v", again, description)
	}
}
