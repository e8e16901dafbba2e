package wire

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The bytes below were written by hand from the wire protocol's reference and bsonspec.org, so that a codec that is
// wrong on both ends is noticed. Spaces and line breaks have no meaning.
func golden(t *testing.T, text string) []byte {
	t.Helper()
	b := hexOf(text)
	if b == nil {
		t.Fatalf("no hexadecimal bytes: %q", text)
	}
	return b
}

func hexOf(text string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil
	}
	return b
}

const (
	// {ping: 1 (int32), $db: "admin"}
	pingDocument = `
		1e000000
		10 70696e6700 01000000
		02 24646200 06000000 61646d696e00
		00`
	opMsgPing = `
		33000000 2a000000 00000000 dd070000
		00000000
		00` + pingDocument

	// {insert: "c", $db: "d"} and the sequence documents: [{a: 1}, {a: 2}], which expects no reply (moreToCome)
	opMsgInsert = `
		5a000000 07000000 00000000 dd070000
		02000000
		00
		1e000000
		02 696e7365727400 02000000 6300
		02 24646200 02000000 6400
		00
		01
		26000000 646f63756d656e747300
		0c000000 10 6100 01000000 00
		0c000000 10 6100 02000000 00`

	// {isMaster: 1} on admin.$cmd with secondaryOk, one document wanted
	opQueryHello = `
		3a000000 01000000 00000000 d4070000
		04000000
		61646d696e2e24636d6400
		00000000 ffffffff
		13000000 10 69734d617374657200 01000000 00`

	// {ok: 1.0} in answer to request 1
	opReplyOK = `
		35000000 09000000 01000000 01000000
		08000000
		0000000000000000
		00000000
		01000000
		11000000 01 6f6b00 000000000000f03f 00`
)

func TestGoldenMsg(t *testing.T) {
	at, b := BeginMsg(nil, 42, 0, 0)
	doc, b := BeginDocument(b)
	b = AppendInt32(b, "ping", 1)
	b = AppendString(b, "$db", "admin")
	b = EndMessage(EndDocument(b, doc), at)
	want := golden(t, opMsgPing)
	if !bytes.Equal(b, want) {
		t.Errorf("written: %x\nwant     %x", b, want)
	}
	m, err := ParseMsg(want)
	if err != nil || m.Flags != 0 || !bytes.Equal(m.Body, golden(t, pingDocument)) || len(m.Sequences) != 0 {
		t.Errorf("read: %+v, %v", m, err)
	}
}

func TestGoldenMsgWithSequence(t *testing.T) {
	at, b := BeginMsg(nil, 7, 0, MoreToCome)
	doc, b := BeginDocument(b)
	b = AppendString(b, "insert", "c")
	b = AppendString(b, "$db", "d")
	b = EndDocument(b, doc)
	seq, b := BeginSequence(b, "documents")
	for _, n := range []int32{1, 2} {
		var one int
		one, b = BeginDocument(b)
		b = EndDocument(AppendInt32(b, "a", n), one)
	}
	b = EndMessage(EndSequence(b, seq), at)
	want := golden(t, opMsgInsert)
	if !bytes.Equal(b, want) {
		t.Errorf("written: %x\nwant     %x", b, want)
	}
	m, err := ParseMsg(want)
	if err != nil || m.Flags != MoreToCome || len(m.Sequences) != 1 {
		t.Fatalf("read: %+v, %v", m, err)
	}
	if n, err := m.Sequences[0].Count(); n != 2 || err != nil || string(m.Sequences[0].Identifier) != "documents" {
		t.Errorf("the sequence %q has %d documents, %v", m.Sequences[0].Identifier, n, err)
	}
}

func TestGoldenMsgWithChecksum(t *testing.T) {
	// The checksum was computed bit by bit from the polynomial 0x1EDC6F41.
	b := golden(t, "37000000 2a000000 00000000 dd070000 01000000 00"+pingDocument+"2d8a66c1")
	if m, err := ParseMsg(b); err != nil || m.Flags != ChecksumPresent || !bytes.Equal(m.Body, golden(t, pingDocument)) {
		t.Errorf("read: %+v, %v", m, err)
	}
	b[len(b)-1] ^= 1
	if _, err := ParseMsg(b); err == nil {
		t.Error("a wrong checksum is accepted")
	}
}

func TestGoldenQuery(t *testing.T) {
	want := golden(t, opQueryHello)
	at, doc := BeginDocument(nil)
	doc = EndDocument(AppendInt32(doc, "isMaster", 1), at)
	if b := AppendQuery(nil, 1, SecondaryOk, "admin.$cmd", doc); !bytes.Equal(b, want) {
		t.Errorf("written: %x\nwant     %x", b, want)
	}
	q, err := ParseQuery(want)
	if err != nil || q.Flags != SecondaryOk || string(q.Collection) != "admin.$cmd" || q.Skip != 0 || q.Return != -1 ||
		!bytes.Equal(q.Document, doc) {
		t.Errorf("read: %+v, %v", q, err)
	}
}

func TestGoldenReply(t *testing.T) {
	want := golden(t, opReplyOK)
	at, doc := BeginDocument(nil)
	doc = EndDocument(AppendDouble(doc, "ok", 1), at)
	if b := AppendReply(nil, 9, 1, doc); !bytes.Equal(b, want) {
		t.Errorf("written: %x\nwant     %x", b, want)
	}
	if got, err := ParseReply(want); err != nil || !bytes.Equal(got, doc) {
		t.Errorf("read: %x, %v", got, err)
	}
}

// everyType is a document with one element of each BSON type.
const everyType = `
	d4000000
	01 6400 000000000000f83f
	02 7300 02000000 7800
	03 6500 05000000 00
	04 6100 0c000000 10 3000 01000000 00
	05 6200 02000000 00 0102
	06 7500
	07 6900 000102030405060708090a0b
	08 7400 01
	09 6d00 e803000000000000
	0a 6e00
	0b 7200 6100 6900
	0c 7000 02000000 6300 000102030405060708090a0b
	0d 6a00 02000000 3100
	0e 7900 02000000 7a00
	0f 7700 0f000000 02000000 3100 05000000 00
	10 3100 ffffffff
	11 3200 02000000 01000000
	12 3300 feffffffffffffff
	13 3400 00000000000000000000000000004030
	ff 3c00
	7f 3e00
	00`

func TestGoldenElements(t *testing.T) {
	var got []string
	doc := goldenDocument(t)
	it := Elements(doc)
	for it.Next() {
		got = append(got, it.Type.String()+" "+string(it.Key))
	}
	want := []string{
		"double d", "string s", "embedded document e", "array a", "binary b", "undefined u", "objectID i", "boolean t",
		"UTC datetime m", "null n", "regex r", "dbPointer p", "javascript j", "symbol y", "code with scope w",
		"32-bit integer 1", "timestamp 2", "64-bit integer 3", "128-bit decimal 4", "min key <", "max key >",
	}
	if it.Err != nil || strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("%v\ngot  %s\nwant %s", it.Err, strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

func TestGoldenAppends(t *testing.T) {
	var id bson.ObjectID
	for i := range id {
		id[i] = byte(i)
	}
	at, b := BeginDocument(nil)
	b = AppendDouble(b, "d", 1.5)
	b = AppendString(b, "s", "x")
	var inner int
	inner, b = BeginEmbedded(b, "e")
	b = EndDocument(b, inner)
	inner, b = BeginArray(b, "a")
	b = EndDocument(AppendInt32(b, ArrayKey(0), 1), inner)
	b = AppendBinary(b, "b", 0, []byte{1, 2})
	b = AppendValue(b, "u", bson.TypeUndefined, nil)
	b = AppendObjectID(b, "i", id)
	b = AppendBool(b, "t", true)
	b = AppendDateTime(b, "m", 1000)
	b = AppendValue(b, "n", bson.TypeNull, nil)
	rest := goldenDocument(t)
	it := Elements(rest)
	for it.Next() {
		switch string(it.Key) {
		case "1":
			b = AppendInt32(b, "1", -1)
		case "2":
			b = AppendTimestamp(b, "2", 1, 2)
		case "3":
			b = AppendInt64(b, "3", -2)
		case "r", "p", "j", "y", "w", "4", "<", ">":
			b = AppendElement(b, it.Element)
		}
	}
	if b = EndDocument(b, at); !bytes.Equal(b, rest) {
		t.Errorf("written: %x\nwant     %x", b, rest)
	}
}

func goldenDocument(t *testing.T) []byte {
	t.Helper()
	return golden(t, everyType)
}

func TestElementValues(t *testing.T) {
	it := Elements(goldenDocument(t))
	numbers := map[string]int64{}
	for it.Next() {
		if n, ok := it.Int64(); ok {
			numbers[string(it.Key)] = n
		}
		if text := it.Text(); (text != nil) != (string(it.Key) == "s") {
			t.Errorf("the text of %s is %q", it.Key, text)
		}
		if (it.Document() != nil) != (string(it.Key) == "e") || (it.Array() != nil) != (string(it.Key) == "a") {
			t.Errorf("%s: Document or Array returns the wrong result", it.Key)
		}
		wantTrue := map[string]bool{"d": true, "t": true, "m": true, "1": true, "3": true}[string(it.Key)]
		if it.True() != wantTrue {
			t.Errorf("%s is true: %v", it.Key, it.True())
		}
	}
	for key, want := range map[string]int64{"t": 1, "m": 1000, "1": -1, "3": -2} {
		if numbers[key] != want {
			t.Errorf("%s is %d, want %d", key, numbers[key], want)
		}
	}
	if _, ok := numbers["d"]; ok {
		t.Error("1.5 is accepted as an integer")
	}
}
