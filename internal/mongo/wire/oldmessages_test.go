package wire

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// The old messages, written by hand from the wire protocol's reference. {a: 1} is the document, {b: 1} the field selector.
const (
	// tailable, secondaryOk and awaitData; skip 2, return 3
	opQueryFind = `
		38000000 05000000 00000000 d4070000
		26000000
		642e6300
		02000000 03000000
		0c000000 10 6100 01000000 00
		0c000000 10 6200 01000000 00`

	opGetMoreFive = `
		24000000 06000000 00000000 d5070000
		00000000
		642e6300
		05000000
		0807060504030201`

	opKillTwo = `
		28000000 07000000 00000000 d7070000
		00000000
		02000000
		0100000000000000 ffffffffffffffff`

	// cursor 9, from document 4 on, two documents
	opReplyTwo = `
		3c000000 08000000 06000000 01000000
		08000000
		0900000000000000
		04000000
		02000000
		0c000000 10 6100 01000000 00
		0c000000 10 6200 01000000 00`
)

func one(key string) []byte {
	at, b := BeginDocument(nil)
	return EndDocument(AppendInt32(b, key, 1), at)
}

func TestGoldenOldMessages(t *testing.T) {
	query := Query{
		Flags: TailableCursor | SecondaryOk | AwaitData, Collection: []byte("d.c"), Skip: 2, Return: 3, Document: one("a"), Selector: one("b"),
	}
	more := GetMore{Collection: []byte("d.c"), Return: 5, Cursor: 0x0102030405060708}
	killed := []int64{1, -1}
	reply := Reply{Flags: AwaitCapable, Cursor: 9, From: 4, Count: 2, Documents: slices.Concat(one("a"), one("b"))}
	at, replied := BeginReply(nil, 8, 6, Reply{Flags: reply.Flags, Cursor: reply.Cursor, From: reply.From})
	replied = EndReply(append(replied, reply.Documents...), at, reply.Count)
	for _, c := range []struct {
		name, golden string
		written      []byte
		want         any
		parse        func(b []byte) (any, error)
	}{
		{"OP_QUERY", opQueryFind, query.Append(nil, 5), query, func(b []byte) (any, error) { return ParseQuery(b) }},
		{"OP_GET_MORE", opGetMoreFive, more.Append(nil, 6), more, func(b []byte) (any, error) { return ParseGetMore(b) }},
		{"OP_KILL_CURSORS", opKillTwo, AppendKillCursors(nil, 7, killed), killed, func(b []byte) (any, error) { return ParseKillCursors(b) }},
		{"OP_REPLY", opReplyTwo, replied, reply, func(b []byte) (any, error) { return ParseReplies(b) }},
	} {
		want := golden(t, c.golden)
		if !bytes.Equal(c.written, want) {
			t.Errorf("%s is written as %x\nwant %x", c.name, c.written, want)
		}
		if got, err := c.parse(want); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is read as %+v, %v; want %+v", c.name, got, err, c.want)
		}
		if _, err := c.parse(EndMessage(append(bytes.Clone(want), 0), 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s with a byte too many: %v", c.name, err)
		}
		for n := range want {
			cut := want[:n:n]
			if n >= HeaderLength {
				cut = EndMessage(bytes.Clone(cut), 0)
			}
			// An OP_QUERY may end where its selector begins.
			if _, err := c.parse(cut); !errors.Is(err, ErrMalformed) && (c.name != "OP_QUERY" || n != len(want)-12) {
				t.Errorf("%s of %d bytes: %v", c.name, n, err)
			}
		}
	}
}

func TestTheDocumentsOfAReply(t *testing.T) {
	r, err := ParseReplies(golden(t, opReplyTwo))
	if err != nil {
		t.Fatal(err)
	}
	if all := slices.Collect(r.All()); !reflect.DeepEqual(all, [][]byte{one("a"), one("b")}) {
		t.Errorf("%x", all)
	}
}

func TestKillCursorsHasALimit(t *testing.T) {
	for n, ok := range map[int]bool{0: true, 29_999: true, 30_000: false} {
		ids, err := ParseKillCursors(AppendKillCursors(nil, 1, make([]int64, n)))
		if ok && (err != nil || len(ids) != n) || !ok && !errors.Is(err, ErrMalformed) {
			t.Errorf("%d cursors: %d, %v", n, len(ids), err)
		}
	}
}

// An old message that is read is written again as it came.
func FuzzOldMessages(f *testing.F) {
	for _, text := range []string{opQueryHello, opQueryFind, opGetMoreFive, opKillTwo, opReplyOK, opReplyTwo} {
		f.Add(hexOf(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := rewritten(b)
		switch {
		case err != nil && !errors.Is(err, ErrMalformed):
			t.Fatalf("error %v", err)
		case err == nil && !bytes.Equal(again[HeaderLength:], withoutReserved(b)[HeaderLength:]):
			t.Fatalf("%x became %x", b, again)
		}
	})
}

// withoutReserved returns b with zero for the number that has no meaning.
func withoutReserved(b []byte) []byte {
	if h, _ := ParseHeader(b); h.OpCode == OpGetMore || h.OpCode == OpKillCursors {
		b = bytes.Clone(b)
		clear(b[HeaderLength : HeaderLength+4])
	}
	return b
}

// rewritten reads an old message and writes it.
func rewritten(b []byte) ([]byte, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return nil, err
	}
	switch h.OpCode {
	case OpQuery:
		q, err := ParseQuery(b)
		return q.Append(nil, 1), err
	case OpGetMore:
		g, err := ParseGetMore(b)
		return g.Append(nil, 1), err
	case OpKillCursors:
		ids, err := ParseKillCursors(b)
		return AppendKillCursors(nil, 1, ids), err
	}
	r, err := ParseReplies(b)
	at, again := BeginReply(nil, 1, 1, r)
	return EndReply(append(again, r.Documents...), at, r.Count), err
}
