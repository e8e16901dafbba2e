package router_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
)

// WaitingBytes counts whole messages: the documents of an insert are in a sequence.
func TestDocumentSequencesCountAsWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		w.dial().must(d("ping", 1))
		w.withoutPrimary()
		document, err := bson.Marshal(d("a", strings.Repeat("x", 4096)))
		if err != nil {
			w.Fatal(err)
		}
		c := w.dial()
		message := messageOf(w, d("insert", "c"), 0, func(b []byte) []byte { return wire.AppendSequence(b, "documents", document) })
		if _, err := c.conn.Write(message); err != nil {
			w.Fatal(err)
		}
		reply, err := c.receive()
		if code := reply.Lookup("code").AsInt64(); err != nil || code != 462 {
			w.Errorf("%v, %v, want 462", reply, err)
		}
	}, func(c *router.Config) { c.WaitingBytes = 4096 })
}

// A message as large as hello allows has room for what the router appends; a larger one is refused, not repeated.
func TestTheLargestMessages(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		most := int(c.run(d("hello", 1)).Lookup("maxMessageSizeBytes").AsInt64())
		for length, code := range map[int]int64{most: 0, wire.MaxMessageLength: 2} {
			sends(sequenceOf(w, length))(w, c)
			reply, err := c.receive()
			if got, _ := reply.Lookup("code").AsInt64OK(); err != nil || got != code {
				w.Errorf("%d bytes: %v, %v, want the code %d", length, reply, err, code)
			}
		}
		w.set.CheckCommands(w, "insert", 1)
	})
}

// sequenceOf returns an insert of four documents whose message has a length.
func sequenceOf(t testing.TB, length int) []byte {
	t.Helper()
	const documents = 4
	empty, err := bson.Marshal(d("a", ""))
	if err != nil {
		t.Fatal(err)
	}
	with := func(sizes []int) []byte {
		return messageOf(t, d("insert", "c"), 0, func(b []byte) []byte {
			at, b := wire.BeginSequence(b, "documents")
			for _, n := range sizes {
				start, d := wire.BeginDocument(b)
				b = wire.EndDocument(wire.AppendString(d, "a", strings.Repeat("x", n)), start)
			}
			return wire.EndSequence(b, at)
		})
	}
	left := length - len(with(nil)) - documents*len(empty)
	sizes := []int{left / documents, left / documents, left / documents, left - 3*(left/documents)}
	return with(sizes)
}
