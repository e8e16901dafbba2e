package wire

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestParseClientMessage(t *testing.T) {
	at, dst := BeginMsg(nil, 3, 0, 0)
	doc, dst := BeginDocument(dst)
	withoutDatabase := EndMessage(EndDocument(AppendInt32(dst, "ping", 1), doc), at)
	for _, c := range []struct {
		name       string
		message    []byte
		command    string
		database   string
		folded     string
		unanswered bool
	}{
		{"a command", golden(t, opMsgPing), "ping", "admin", `{"ping": {"$numberInt":"1"},"$db": "admin"}`, false},
		{
			"a command with a document sequence, which expects no reply", golden(t, opMsgInsert), "insert", "d",
			`{"insert": "c","$db": "d","documents": [{"a": {"$numberInt":"1"}},{"a": {"$numberInt":"2"}}]}`, true,
		},
		{"a hello in an OP_QUERY", golden(t, opQueryHello), "isMaster", "admin", `{"isMaster": {"$numberInt":"1"}}`, false},
		{"a command without a database", withoutDatabase, "ping", "", `{"ping": {"$numberInt":"1"}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseClientMessage(c.message)
			if err != nil {
				t.Fatal(err)
			}
			if r.Name != c.command || r.Database != c.database || r.Unanswered() != c.unanswered {
				t.Errorf("command %q, database %q, unanswered %v", r.Name, r.Database, r.Unanswered())
			}
			if folded := bson.Raw(r.Command()).String(); folded != c.folded {
				t.Errorf("the whole command is\n%s, want\n%s", folded, c.folded)
			}
		})
	}
}

func TestAReplyHasTheFormOfItsRequest(t *testing.T) {
	document := append(bson.Raw(nil), golden(t, pingDocument)...)
	for name, message := range map[string][]byte{"an OP_MSG": golden(t, opMsgPing), "an OP_QUERY": golden(t, opQueryHello)} {
		r, err := ParseClientMessage(message)
		if err != nil {
			t.Fatal(err)
		}
		reply := r.AppendReply([]byte("before"), 9, document)[len("before"):]
		h, err := ParseHeader(reply)
		if err != nil || h.RequestID != 9 || h.ResponseTo != r.Header.RequestID {
			t.Errorf("%s is answered with header %+v, %v", name, h, err)
		}
		var got []byte
		if r.Header.OpCode == OpMsg {
			var m Msg
			m, err = ParseMsg(reply)
			got = m.Body
		} else {
			got, err = ParseReply(reply)
		}
		if err != nil || !bytes.Equal(got, document) {
			t.Errorf("%s is answered with %x, %v", name, reply, err)
		}
	}
}

func TestParseClientMessageRefusesMalformedBytes(t *testing.T) {
	insert := golden(t, opQueryHello)
	copy(insert[HeaderLength+4:], "admin.c$md")
	at, dst := BeginMsg(nil, 1, 0, 0)
	doc, dst := BeginDocument(dst)
	nameless := EndMessage(EndDocument(dst, doc), at)
	for name, message := range map[string][]byte{
		"no bytes":                    nil,
		"a server's reply":            golden(t, opReplyOK),
		"an OP_QUERY of a collection": insert,
		"a command without a name":    nameless,
		"a message that is cut off":   golden(t, opMsgPing)[:30],
	} {
		if r, err := ParseClientMessage(message); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestFoldAllocatesTheDocumentOnly(t *testing.T) {
	r, err := ParseClientMessage(golden(t, opMsgInsert))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { r.Command() }); n > 2 { // the second one is the identifier's text
		t.Errorf("%v allocations", n)
	}
	r.Sequences = nil
	if n := testing.AllocsPerRun(100, func() { r.Command() }); n != 0 {
		t.Errorf("%v allocations without a sequence", n)
	}
}

// FuzzParseClientMessage compares a parsed message with the message that is built from its parts.
func FuzzParseClientMessage(f *testing.F) {
	for _, text := range []string{opMsgPing, opMsgInsert, opQueryHello, opReplyOK} {
		f.Add(bytes.Clone(hexOf(text)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseClientMessage(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v", err)
			}
			return
		}
		checkFolded(t, &r)
		document := []byte{5, 0, 0, 0, 0}
		if h, err := ParseHeader(r.AppendReply(nil, 1, document)); err != nil || h.ResponseTo != r.Header.RequestID {
			t.Fatalf("the reply has header %+v, %v", h, err)
		}
		if r.Header.OpCode != OpMsg {
			return
		}
		again, err := ParseClientMessage(rebuilt(&r))
		if err != nil || again.Name != r.Name || again.Database != r.Database || again.Unanswered() != r.Unanswered() ||
			!bytes.Equal(again.Command(), r.Command()) {
			t.Fatalf("the request is %+v; built from its parts it is %+v, %v", r, again, err)
		}
	})
}

// checkFolded compares the whole command with the body and the sequences, element by element.
func checkFolded(t *testing.T, r *ClientMessage) {
	t.Helper()
	command, body := Elements(r.Command()), Elements(r.Body)
	for body.Next() {
		if !command.Next() || !bytes.Equal(command.Key, body.Key) || !bytes.Equal(command.Value, body.Value) {
			t.Fatalf("the field %q became %q", body.Key, command.Key)
		}
	}
	if body.Err != nil {
		return // the body is malformed, so its end, where the sequences follow, is not known
	}
	for _, s := range r.Sequences {
		if !command.Next() || !bytes.Equal(command.Key, s.Identifier) || command.Type != bson.TypeArray {
			t.Fatalf("the sequence %q became %q", s.Identifier, command.Key)
		}
		array, i := Elements(command.Value), 0
		for document := range s.All() {
			if !array.Next() || string(array.Key) != ArrayKey(i) || !bytes.Equal(array.Document(), document) {
				t.Fatalf("document %d of %q became %x", i, s.Identifier, array.Value)
			}
			i++
		}
		if array.Next() || array.Err != nil {
			t.Fatalf("%q has more than its %d documents, %v", s.Identifier, i, array.Err)
		}
	}
	if command.Next() || command.Err != nil {
		t.Fatalf("the unexpected field %q, %v", command.Key, command.Err)
	}
}

// rebuilt writes an OP_MSG with the request's parts.
func rebuilt(r *ClientMessage) []byte {
	at, dst := BeginMsg(nil, r.Header.RequestID, 0, r.Flags&MoreToCome)
	dst = append(dst, r.Body...)
	for _, s := range r.Sequences {
		var sequence int
		sequence, dst = BeginSequence(dst, string(s.Identifier))
		dst = EndSequence(append(dst, s.Documents...), sequence)
	}
	return EndMessage(dst, at)
}
