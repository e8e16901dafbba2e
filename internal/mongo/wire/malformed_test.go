package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestMalformedBytesAreRefused(t *testing.T) {
	ping := golden(t, opMsgPing)
	change := func(b []byte, at int, to ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], to)
		return b
	}
	insert := golden(t, opMsgInsert)
	for name, b := range map[string][]byte{
		"a header cut off":               ping[:15],
		"a length of 15":                 change(ping, 0, 15),
		"shorter than it says":           ping[:len(ping)-1],
		"longer than it says":            append(bytes.Clone(ping), 0),
		"another operation code":         change(ping, 12, 0xdc),
		"an unknown required flag":       change(ping, 16, 4),
		"a flag without its checksum":    change(ping, 16, 1),
		"a section of kind 2":            change(ping, 20, 2),
		"a body longer than the message": change(ping, 21, 0x1f),
		"a body of negative length":      change(ping, 21, 0, 0, 0, 0x80),
		"a body without its zero":        change(ping, 50, 1),
		"no body":                        EndMessage(append(golden(t, "00000000 01000000 00000000 dd070000 00000000"), nil...), 0),
		"two bodies":                     EndMessage(append(bytes.Clone(ping), ping[20:]...), 0),
		"a sequence too long":            change(insert, 52, 0x27),
		"a sequence too short":           change(insert, 52, 4),
		"an identifier without end":      change(insert, 56, bytes.Repeat([]byte{'x'}, 34)...),
		"a document cut off":             change(insert, 66, 0x0d),
	} {
		if _, err := ParseMsg(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMalformedElementsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"too short":                "04000000",
		"no final zero byte":       "05000000 01",
		"a key without end":        "08000000 10 6161 00",
		"an unknown type":          "08000000 20 6100 00",
		"an int32 that is cut off": "0a000000 10 6100 0100 00",
		"a string of length 0":     "0c000000 02 6100 00000000 00",
		"a string too long":        "0e000000 02 6100 09000000 6100 00",
		"a binary too long":        "0d000000 05 6100 01000000 00 00",
		"a document too long":      "0d000000 03 6100 06000000 00 00",
		"a regex without end":      "0a000000 0b 6100 6100 00",
		"a code with a bad size":   "0c000000 0f 6100 05000000 00",
	} {
		it := Elements(golden(t, text))
		for it.Next() {
		}
		if !errors.Is(it.Err, ErrMalformed) {
			t.Errorf("%s: %v", name, it.Err)
		}
	}
}

func TestMalformedRepliesAndQueriesAreRefused(t *testing.T) {
	reply, query := golden(t, opReplyOK), golden(t, opQueryHello)
	for n := range reply {
		if _, err := ParseReply(reply[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("an OP_REPLY of %d bytes: %v", n, err)
		}
	}
	for n := range query {
		if _, err := ParseQuery(query[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("an OP_QUERY of %d bytes: %v", n, err)
		}
	}
	reply[32] = 2
	if _, err := ParseReply(reply); !errors.Is(err, ErrMalformed) {
		t.Errorf("two documents: %v", err)
	}
}

func TestReadMessage(t *testing.T) {
	ping := golden(t, opMsgPing)
	buf := make([]byte, 0, 8)
	r := strings.NewReader(string(ping) + string(ping))
	for range 2 {
		got, err := ReadMessage(r, buf, MaxMessageLength)
		if err != nil || !bytes.Equal(got, ping) {
			t.Fatalf("%x, %v", got, err)
		}
		buf = got
	}
	large := EndMessage(append(bytes.Clone(ping), make([]byte, 300<<10)...), 0)
	if got, err := ReadMessage(bytes.NewReader(large), nil, MaxMessageLength); err != nil || !bytes.Equal(got, large) {
		t.Errorf("a large message: %d bytes, %v", len(got), err)
	}
	claims := bytes.Clone(ping)
	copy(claims, []byte{0, 0, 0, 2}) // 32 MiB, of which no byte arrives
	if n := testing.AllocsPerRun(1, func() { _, _ = ReadMessage(bytes.NewReader(claims), nil, MaxMessageLength) }); n > 4 {
		t.Errorf("%v allocations", n)
	}
	if _, err := ReadMessage(bytes.NewReader(claims), nil, MaxMessageLength); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a message whose body does not arrive: %v", err)
	}
	if _, err := ReadMessage(r, buf, MaxMessageLength); err != io.EOF { //nolint:errorlint // exactly io.EOF is promised
		t.Errorf("at the end: %v", err)
	}
	if _, err := ReadMessage(bytes.NewReader(ping[:20]), nil, MaxMessageLength); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("within a message: %v", err)
	}
	if _, err := ReadMessage(bytes.NewReader(ping), nil, len(ping)-1); !errors.Is(err, ErrMalformed) {
		t.Errorf("over the limit: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{opMsgPing, opMsgInsert, opQueryHello, opReplyOK} {
		b := bytes.Clone(hexOf(text))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseMsg(b); err == nil {
			walk(t, m.Body)
			for _, s := range m.Sequences {
				if _, err := s.Count(); err != nil {
					t.Errorf("an accepted sequence cannot be counted: %v", err)
				}
			}
		}
		if q, err := ParseQuery(b); err == nil {
			walk(t, q.Document)
		}
		if doc, err := ParseReply(b); err == nil {
			walk(t, doc)
		}
	})
}

// walk reads every element's value, which must lie within the document.
func walk(t *testing.T, doc []byte) {
	t.Helper()
	it := Elements(doc)
	for it.Next() {
		it.Int64()
		it.True()
		it.Text()
		if inner := it.Document(); inner != nil {
			walk(t, inner)
		}
	}
}
