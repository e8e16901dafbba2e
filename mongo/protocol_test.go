package mongo_test

import (
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// After a reply that breaks the protocol, the connection is closed and the operation is retried on another one.
func TestAReplyThatBreaksTheProtocolClosesItsConnection(t *testing.T) {
	found := doc("cursor", doc("id", int64(0), "ns", "test.c", "firstBatch", []d{doc("_id", 1)}))
	for name, reply := range map[string]*mongotest.Reply{
		"a reply to another request":    {Body: mongotest.NewReply(found).Body, ResponseTo: 4711},
		"a reply that is cut off":       {Body: mongotest.NewReply(found).Body, Lost: true, CutAfter: 30},
		"another protocol":              {Garbage: []byte("HTTP/1.1 400 Bad Request\r\n\r\n")},
		"a length below the header's":   {Garbage: make([]byte, 16)},
		"a body that is not a document": {Body: []byte{200, 0, 0, 0, 0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := mongotest.RunBlackPipeT(t, mongotest.InMemory())
			client, err := mongo.Connect(options.Client().ApplyURI(p.URI()).SetDialer(p.Dialer()))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Disconnect(t.Context()) }()
			broken := p.Expect("find").Send(reply)
			answered := p.Expect("find").Reply(found)
			if err := client.Database("test").Collection("c").FindOne(t.Context(), doc("_id", 1)).Err(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if broken.Request().ConnID == answered.Request().ConnID {
				t.Errorf("%s: the connection was used again", name)
			}
		})
	}
}
