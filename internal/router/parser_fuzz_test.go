package router

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func commandMessages(f *testing.F) [][]byte {
	var all [][]byte
	for _, c := range []bson.D{
		{{Key: "find", Value: "c"}, {Key: "$readPreference", Value: bson.D{{Key: "mode", Value: "nearest"}, {Key: "tags", Value: bson.A{bson.D{}}}}}},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{}}}}}, {Key: "lsid", Value: bson.D{}}},
		{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "multi", Value: true}}}}, {Key: "maxTimeMS", Value: 5}},
		{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "limit", Value: 1}}}}, {Key: "writeConcern", Value: bson.D{{Key: "w", Value: 0}}}},
		{{Key: "mapReduce", Value: "c"}, {Key: "out", Value: bson.D{{Key: "inline", Value: 1}}}, {Key: "$clusterTime", Value: bson.D{}}},
		{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{int64(1), 2.0}}, {Key: "txnNumber", Value: int64(1)}, {Key: "autocommit", Value: false}},
		{{Key: "getMore", Value: int64(7)}, {Key: "collection", Value: "c"}, {Key: "$db", Value: "app"}},
	} {
		for _, flags := range []wire.MsgFlags{0, wire.MoreToCome} {
			at, b := wire.BeginMsg(nil, 1, 0, flags)
			b = append(b, marshal(f, c)...)
			all = append(all, wire.EndMessage(wire.AppendSequence(b, "updates", marshal(f, bson.D{{Key: "multi", Value: 1}})), at))
		}
		q := wire.Query{Flags: wire.SecondaryOk, Collection: []byte("app.$cmd"), Return: -1, Document: marshal(f, c)}
		all = append(all, q.Append(nil, 1))
		q.Collection = []byte("app.c")
		all = append(all, q.Append(nil, 1))
	}
	return all
}

// Whatever a client sends, the router reads it without a panic, and sends on what begins with the same name.
func FuzzWhatAClientSends(f *testing.F) {
	for _, m := range commandMessages(f) {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var p parser
		q, err := p.parse(message)
		if err != nil || q.old.isRefused() || q.old != nil && q.old.kill {
			return
		}
		if p, refused := preferenceOf(q); p != nil && refused != nil {
			t.Error("a preference that is refused, too")
		}
		switch route := routeOf(q); {
		case q.transaction && (route == readsAnywhere || route == writesOne) && (q.old == nil || !q.old.explained):
			t.Errorf("a command of a transaction has the route %d", route)
		case route == writesOne && q.Unanswered():
			t.Error("a write without an answer is repeated")
		}
		_, _ = cursorIDs(q.Body), opensChangeStream(q)
		forward := &forwarded{command: q, ownSession: true}
		at, b := wire.BeginDocument(nil)
		b, err = forward.AppendTo(b, operation.Attempt{Number: 1, Server: &topology.Server{}})
		if err != nil {
			t.Fatalf("a command that was read: %v", err)
		}
		sent := wire.Elements(wire.EndDocument(b, at))
		if !sent.Next() || string(sent.Key) != q.Name {
			t.Errorf("it goes on as %q, not %q", sent.Key, q.Name)
		}
		for sent.Next() {
			switch string(sent.Key) {
			case "lsid", "txnNumber", "$db", "$clusterTime":
				t.Errorf("%s goes on", sent.Key)
			}
		}
		if sent.Err != nil {
			t.Error(sent.Err)
		}
	})
}

// A client that is idle after a command with a wrong name costs no more than others.
func TestAParserKeepsNoLongName(t *testing.T) {
	var p parser
	for _, name := range []string{"app", strings.Repeat("a", longestName+1)} {
		if got := p.sameDatabase([]byte(name)); got != name {
			t.Errorf("the name has %d bytes, want %d", len(got), len(name))
		}
		if p.database != "app" {
			t.Errorf("%d bytes are kept", len(p.database))
		}
	}
}
