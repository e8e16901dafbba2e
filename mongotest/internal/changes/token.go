package changes

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/changeStreams/#resume-tokens

// token is a position in the events of a set. All members have the same ones, because it is made from the log. Its
// text is written as the real server writes it, so that texts sort as positions do; of what identifies the event beyond its
// place in the log it has the kind only, not the document's key.
type token struct {
	at         store.Timestamp
	event      bool       // it is that of an event; otherwise of a time, before all events of that time
	index      int        // of the event within the entry
	invalidate bool       // of the event that ends the stream, behind the one that is the reason
	collection store.UUID // zero where the event is about none
	operation  string
	fragment   int // of the event, from 1 on; 0 for the whole event
}

// The types of the values that a token is made of, which sort in this order.
const (
	typeEnd       = 0x04
	typeNull      = 0x14
	typeZero      = 0x29
	typePositive  = 0x2a // and the number of bytes that follow
	typeText      = 0x3c
	typeDocument  = 0x46
	typeBinary    = 0x5a
	typeFalse     = 0x6e
	typeTrue      = 0x6f
	typeTimestamp = 0x82
)

const (
	tokenVersion = 2
	eventToken   = 128
)

// text returns the token as clients have it.
func (t *token) text() string {
	b := binary.BigEndian.AppendUint64([]byte{typeTimestamp}, uint64(t.at))
	b = appendTokenNumber(b, tokenVersion)
	kind := 0
	if t.event {
		kind = eventToken
	}
	b = appendTokenNumber(b, kind)
	b = appendTokenNumber(b, t.index)
	if t.invalidate {
		b = append(b, typeTrue)
	} else {
		b = append(b, typeFalse)
	}
	if t.collection == (store.UUID{}) {
		b = append(b, typeNull)
	} else {
		b = append(b, typeBinary, byte(len(t.collection)), bson.TypeBinaryUUID)
		b = append(b, t.collection[:]...)
	}
	if t.event {
		b = append(b, typeDocument, typeText)
		b = append(append(b, "operationType"...), 0, typeText)
		b = append(append(b, t.operation...), 0, 0)
		if t.fragment > 0 {
			b = appendTokenNumber(b, t.fragment-1)
		}
	}
	return strings.ToUpper(hex.EncodeToString(append(b, typeEnd)))
}

// appendTokenNumber writes a number that is not negative, so that bytes sort as numbers do.
func appendTokenNumber(dst []byte, n int) []byte {
	if n == 0 {
		return append(dst, typeZero)
	}
	var room [8]byte
	binary.BigEndian.PutUint64(room[:], uint64(n)<<1) // the lowest bit is that of fractions
	digits := bytes.TrimLeft(room[:], "\x00")
	return append(append(dst, typePositive+byte(len(digits))), digits...)
}

// document returns the token as the _id of an event.
func (t *token) document() []byte { return tokenDocument(t.text()) }

func tokenDocument(text string) []byte {
	at, dst := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendString(dst, "_data", text), at)
}

// tokenText is a token's document as errors tell it.
func tokenText(doc []byte) string {
	var fields []string
	for _, f := range query.ObjectOf(doc) {
		fields = append(fields, f.Name+": "+f.Value.Whole())
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// tokenData returns the text of a token that a client gives back.
func tokenData(doc []byte) (string, error) {
	data, bits := query.Lookup(doc, "_data"), query.Lookup(doc, "_typeBits")
	switch {
	case data.Type != bson.TypeString:
		return "", mongoerr.Errorf(40647, "Bad resume token: _data of missing or of wrong type. Expected string, got %s", tokenText(doc))
	case !bits.Missing() && bits.Type != bson.TypeBinary:
		return "", mongoerr.Errorf(40648, "Bad resume token: _typeBits of wrong type %s", tokenText(doc))
	}
	return string(data.Text()), nil
}

// parseToken reads the text of a token.
func parseToken(data string) (*token, error) {
	b, err := hex.DecodeString(data)
	if err != nil {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "resume token string was not a valid hex string")
	}
	r := tokenReader{rest: b}
	t := r.token()
	if r.bad {
		return nil, mongoerr.Errorf(mongoerr.InvalidResumeToken, "Invalid resume token: %s", data)
	}
	return t, nil
}

// tokenReader takes a token's bytes apart. It notes if there is something else than it expects.
type tokenReader struct {
	rest []byte
	bad  bool
}

// take returns the next n bytes.
func (r *tokenReader) take(n int) []byte {
	if r.bad = r.bad || n > len(r.rest); r.bad {
		return make([]byte, n)
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *tokenReader) expect(b byte) { r.bad = r.take(1)[0] != b || r.bad }

func (r *tokenReader) number() int {
	head := r.take(1)[0]
	if head == typeZero {
		return 0
	}
	size := int(head) - typePositive
	if r.bad = r.bad || size < 1 || size > 4; r.bad {
		return 0
	}
	n := 0
	for _, digit := range r.take(size) {
		n = n<<8 | int(digit)
	}
	r.bad = r.bad || n&1 != 0 || n>>1 > math.MaxInt32
	return n >> 1
}

func (r *tokenReader) truth() bool {
	b := r.take(1)[0]
	r.bad = r.bad || b != typeTrue && b != typeFalse
	return b == typeTrue
}

func (r *tokenReader) uuid() (id store.UUID) {
	switch head := r.take(1)[0]; head {
	case typeNull:
	case typeBinary:
		r.expect(byte(len(id)))
		r.expect(bson.TypeBinaryUUID)
		copy(id[:], r.take(len(id)))
	default:
		r.bad = true
	}
	return id
}

// word reads a text that ends with a zero.
func (r *tokenReader) word() string {
	end := bytes.IndexByte(r.rest, 0)
	if end < 0 {
		r.bad = true
		return ""
	}
	return string(r.take(end + 1)[:end])
}

// fragmentOf reads the end of a token behind the operation: the number of a fragment, or what else real servers identify an event by.
func fragmentOf(rest []byte) (end []byte, fragment int) {
	r := tokenReader{rest: rest}
	r.expect(0)
	if r.bad || len(r.rest) <= 1 {
		return rest[max(0, len(rest)-1):], 0
	}
	fragment = r.number() + 1
	return r.rest, fragment
}

// whole returns the token of the event that the token's own is a fragment of.
func (t token) whole() *token {
	t.fragment = 0
	return &t
}

func (r *tokenReader) token() *token {
	r.expect(typeTimestamp)
	t := &token{at: store.Timestamp(binary.BigEndian.Uint64(r.take(8)))}
	version, kind := r.number(), r.number()
	t.event = kind == eventToken
	r.bad = r.bad || version != tokenVersion || kind != 0 && kind != eventToken
	t.index, t.invalidate, t.collection = r.number(), r.truth(), r.uuid()
	if t.event {
		r.expect(typeDocument)
		r.expect(typeText)
		r.bad = r.word() != "operationType" || r.bad
		r.expect(typeText)
		t.operation = r.word()
		r.rest, t.fragment = fragmentOf(r.rest)
	}
	r.expect(typeEnd)
	r.bad = r.bad || len(r.rest) > 0
	return t
}
