package router

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func TestACommandInAnOldQueryIsUnwrapped(t *testing.T) {
	for _, c := range []struct{ name, document, want string }{
		{"without a wrapper", `{"ping": 1}`, `{"ping": 1}`},
		{"$query", `{"$query": {"ping": 1}}`, `{"ping": 1}`},
		{"query", `{"query": {"ping": 1}, "$orderby": {}}`, `{"ping": 1}`},
		{"a preference", `{"$query": {"ping": 1}, "$readPreference": {"mode": "nearest"}}`, `{"ping": 1, "$readPreference": {"mode": "nearest"}}`},
		{
			"two preferences", `{"$query": {"ping": 1, "$readPreference": {"mode": "primary"}}, "$readPreference": {"mode": "nearest"}}`,
			`{"ping": 1, "$readPreference": {"mode": "nearest"}}`,
		},
		{"a preference that is wrong stays wrong", `{"$query": {"ping": 1}, "$readPreference": 5}`, `{"ping": 1, "$readPreference": 5}`},
		{"a command with a field query", `{"count": "c", "query": {"a": 1}}`, `{"count": "c", "query": {"a": 1}}`},
	} {
		got, err := new(parser).parse(wire.AppendQuery(nil, 1, wire.SecondaryOk, "app.$cmd", raw(t, c.document)))
		if err != nil || !same(t, got.Body, c.want) || got.Database != "app" || !got.slaveOk || got.old != nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestAnOldGetMoreBecomesACommand(t *testing.T) {
	for n, want := range map[int32]string{
		0: `{"getMore": {"$numberLong": "5"}, "collection": "$cmd.listCollections"}`,
		3: `{"getMore": {"$numberLong": "5"}, "collection": "$cmd.listCollections", "batchSize": 3}`,
	} {
		g := wire.GetMore{Collection: []byte("app.$cmd.listCollections"), Return: n, Cursor: 5}
		c, err := new(parser).parse(g.Append(nil, 1))
		if err != nil || !same(t, c.Body, want) || c.Database != "app" || c.cursor != 5 {
			t.Errorf("%d: %+v, %v", n, c, err)
		}
	}
}

func TestRepliesToOldMessages(t *testing.T) {
	find := wire.Query{Collection: []byte("app.c"), Document: raw(t, `{}`)}
	explain := wire.Query{Collection: []byte("app.c"), Document: raw(t, `{"$query": {}, "$explain": true}`)}
	more := wire.GetMore{Collection: []byte("app.c"), Cursor: 5}
	const capable, failed, lost = wire.AwaitCapable, wire.AwaitCapable | wire.QueryFailure, wire.AwaitCapable | wire.CursorNotFound
	for _, c := range []struct {
		name      string
		message   []byte
		document  string
		flags     uint32
		cursor    int64
		documents []string
	}{
		{"a batch", find.Append(nil, 9), `{"cursor": {"firstBatch": [{"a": 1}, {"b": 2}], "id": 7, "ns": "app.c"}, "ok": 1}`, capable, 7, []string{`{"a": 1}`, `{"b": 2}`}},
		{"no document", find.Append(nil, 9), `{"cursor": {"firstBatch": [], "id": 0}, "ok": 1}`, capable, 0, nil},
		{"more", more.Append(nil, 9), `{"cursor": {"nextBatch": [{"a": 1}], "id": 5}, "ok": 1}`, capable, 5, []string{`{"a": 1}`}},
		{"explain", explain.Append(nil, 9), `{"queryPlanner": 1, "ok": 1}`, capable, 0, []string{`{"queryPlanner": 1, "ok": 1}`}},
		{"an error", find.Append(nil, 9), `{"ok": 0, "errmsg": "x", "code": 2, "codeName": "BadValue"}`, failed, 0, []string{`{"$err": "x", "code": 2, "ok": 0.0}`}},
		{"an error of a getMore", more.Append(nil, 9), `{"ok": 0, "errmsg": "x", "code": 50}`, failed, 0, []string{`{"$err": "x", "code": 50, "ok": 0.0}`}},
		{"no such cursor", more.Append(nil, 9), `{"ok": 0, "errmsg": "x", "code": 43}`, lost, 0, nil},
	} {
		q, err := new(parser).parse(c.message)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r, err := wire.ParseReplies(q.AppendReply(nil, 3, raw(t, c.document)))
		if err != nil || r.Flags != c.flags || r.Cursor != c.cursor || int(r.Count) != len(c.documents) {
			t.Errorf("%s: %+v, %v", c.name, r, err)
			continue
		}
		i := 0
		for document := range r.All() {
			if !same(t, document, c.documents[i]) {
				t.Errorf("%s: document %d is %s", c.name, i, bson.Raw(document))
			}
			i++
		}
	}
}

// Any message of a client is refused, or becomes a command that can be answered. An old one has the form of its reply.
func FuzzParseCommand(f *testing.F) {
	find := wire.Query{Collection: []byte("app.c"), Document: raw(f, `{"$query": {"a": 1}, "$explain": true, "$hint": "a"}`), Selector: raw(f, `{"a": 1}`)}
	command := wire.Query{Collection: []byte("app.$cmd"), Return: -1, Document: raw(f, `{"$query": {"ping": 1}, "$readPreference": {"mode": "nearest"}}`)}
	more := wire.GetMore{Collection: []byte("app.c"), Cursor: 5}
	for _, b := range [][]byte{find.Append(nil, 1), command.Append(nil, 1), more.Append(nil, 1), wire.AppendKillCursors(nil, 1, []int64{1}), withOpCode(wire.OpInsert)} {
		f.Add(b)
	}
	documents := [][]byte{raw(f, `{"cursor": {"firstBatch": [{"a": 1}], "id": 7}, "ok": 1}`), raw(f, `{"ok": 0, "code": 43, "errmsg": "x"}`)}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		c, err := new(parser).parse(b)
		if err != nil {
			return
		}
		it := wire.Elements(c.Body)
		for it.Next() {
		}
		if c.Body != nil && it.Err != nil {
			t.Fatalf("the body is malformed: %v", it.Err)
		}
		for _, document := range documents {
			reply := c.AppendReply(nil, 2, document)
			h, err := wire.ParseHeader(reply)
			if err != nil || h.ResponseTo != c.Header.RequestID || int(h.Length) != len(reply) {
				t.Fatalf("a reply has the header %+v, %v", h, err)
			}
			if _, err := wire.ParseReplies(reply); h.OpCode == wire.OpReply && err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(b, before) {
			t.Fatal("the message was changed")
		}
	})
}

// A command in an OP_MSG costs what it did before there were old messages: itself, its name and its database.
func TestACommandOfTodayAllocatesThree(t *testing.T) {
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	b = wire.EndMessage(append(b, raw(t, `{"find": "c", "filter": {}, "$db": "app"}`)...), at)
	p := new(parser)
	if n := testing.AllocsPerRun(100, func() { _, _ = p.parse(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
