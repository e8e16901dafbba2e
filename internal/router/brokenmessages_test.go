package router_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// messageOf returns the message of a command for the database app.
func messageOf(t testing.TB, command bson.D, flags wire.MsgFlags, more ...func(b []byte) []byte) []byte {
	t.Helper()
	document, err := bson.Marshal(append(command, bson.E{Key: "$db", Value: "app"}))
	if err != nil {
		t.Fatal(err)
	}
	at, b := wire.BeginMsg(nil, 7, 0, flags)
	b = append(b, document...)
	for _, m := range more {
		b = m(b)
	}
	return wire.EndMessage(b, at)
}

// withHeader returns a message with another length or operation code.
func withHeader(message []byte, length, code int32) []byte {
	b := bytes.Clone(message)
	binary.LittleEndian.PutUint32(b, uint32(length))
	binary.LittleEndian.PutUint32(b[12:], uint32(code))
	return b
}

// What is no message of the protocol ends the connection, and nothing else.
func TestBrokenMessagesEndTheirConnection(t *testing.T) {
	ping := messageOf(t, d("ping", 1), 0)
	length := int32(len(ping))
	inWorld(t, func(w *world) {
		for name, message := range map[string][]byte{
			"the length 0":                    withHeader(ping, 0, wire.OpMsg),
			"the length 15":                   withHeader(ping, 15, wire.OpMsg),
			"a negative length":               withHeader(ping, -1, wire.OpMsg),
			"the length of 48 MB and a byte":  withHeader(ping, wire.MaxMessageLength+1, wire.OpMsg),
			"a header only":                   withHeader(ping, 16, wire.OpMsg)[:16],
			"a length that is less":           withHeader(ping, length-1, wire.OpMsg),
			"OP_COMPRESSED":                   withHeader(ping, length, 2012),
			"OP_REPLY":                        withHeader(ping, length, wire.OpReply),
			"an operation code that is none":  withHeader(ping, length, -1),
			"an unknown required flag":        messageOf(t, d("ping", 1), 1<<3),
			"a checksum that does not match":  messageOf(t, d("ping", 1), wire.ChecksumPresent, func(b []byte) []byte { return append(b, 1, 2, 3, 4) }),
			"a section of unknown kind":       messageOf(t, d("ping", 1), 0, func(b []byte) []byte { return append(b, 3) }),
			"two bodies":                      messageOf(t, d("ping", 1), 0, func(b []byte) []byte { return append(b, 0, 5, 0, 0, 0, 0) }),
			"a command without a name":        wire.EndMessage(append(wireHead(), 5, 0, 0, 0, 0), 0),
			"an element of unknown type":      wire.EndMessage(append(wireHead(), 8, 0, 0, 0, 0x55, 'a', 0, 0), 0),
			"a sequence longer than its data": messageOf(t, d("insert", "c"), 0, func(b []byte) []byte { return append(b, 1, 99, 0, 0, 0, 'a', 0) }),
		} {
			c := w.dial()
			if _, err := c.conn.Write(message); err != nil {
				w.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, c.conn); n != 0 || err != nil {
				w.Errorf("%s: %d bytes came, %v; the connection must end without an answer", name, n, err)
			}
		}
		w.dial().must(d("ping", 1))
		synctest.Wait()
		if n := w.router.Clients(); n != 1 {
			w.Errorf("%d clients are connected, want 1", n)
		}
	})
}

func wireHead() []byte {
	_, b := wire.BeginMsg(nil, 7, 0, 0)
	return b
}

// Messages that want no answer get none, however many come.
func TestMessagesWithoutAnAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		version := c.run(d("hello", 1)).Lookup("topologyVersion")
		hello := bson.D{{Key: "hello", Value: 1}, {Key: "topologyVersion", Value: version}, {Key: "maxAwaitTimeMS", Value: 1}}
		for range 50 {
			for _, command := range []bson.D{
				d("ping", 1), d("count", "c"), d("noSuchCommand", 1),
				{{Key: "getMore", Value: int64(9)}, {Key: "collection", Value: "c"}},
				{{Key: "find", Value: "c"}, {Key: "$readPreference", Value: 1}},
				hello,
				{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{}}}, {Key: "writeConcern", Value: d("w", 0)}},
			} {
				sends(messageOf(w, command, wire.MoreToCome))(w, c)
			}
		}
		if reply := c.run(d("isdbgrid", 1)); reply.Lookup("hostname").Type == 0 {
			w.Errorf("another reply came: %v", reply)
		}
	})
}

// exhaustAllowed means a stream of replies to a hello only.
func TestExhaustOfOtherCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		for _, command := range []bson.D{d("ping", 1), d("count", "c"), d("hello", 1), {{Key: "hello", Value: 1}, {Key: "maxAwaitTimeMS", Value: 5}, {
			Key: "topologyVersion", Value: bson.D{{Key: "processId", Value: bson.NewObjectID()}, {Key: "counter", Value: int64(0)}},
		}}} {
			sends(messageOf(w, command, wire.ExhaustAllowed))(w, c)
			if _, err := c.receive(); err != nil || wire.MoreFollow(c.buf) {
				w.Errorf("%v: %v, more follow: %v", command, err, wire.MoreFollow(c.buf))
			}
		}
	})
}
