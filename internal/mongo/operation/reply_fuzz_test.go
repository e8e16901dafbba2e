package operation

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// unique returns the value of a key that a valid document has once.
func unique(document bson.Raw, key string) (found bson.RawValue, ok bool) {
	elements, err := document.Elements()
	if err != nil || document.Validate() != nil {
		return found, false
	}
	n := 0
	for _, e := range elements {
		if e.Key() == key {
			found = e.Value()
			n++
		}
	}
	return found, n == 1
}

// parsedTwice parses a reply, and the same reply with other bytes after it, which must not change the result. It reports false
// if the bytes are no reply.
func parsedTwice(t *testing.T, body []byte) (first, second *Reply, ok bool) {
	t.Helper()
	first, second = new(Reply), new(Reply)
	err := first.Parse(body)
	if n, malformed := wire.DocumentLength(body); malformed != nil || n != len(body) {
		return nil, nil, false
	}
	if errOfSecond := second.Parse(append(bytes.Clone(body), 2, 'n', 0, 0xff)); (err == nil) != (errOfSecond == nil) {
		t.Fatalf("with other bytes after it: %v, else %v", errOfSecond, err)
	}
	return first, second, err == nil
}

// FuzzCursorReply gives arbitrary replies to the decoder of cursors, and compares it with package bson.
func FuzzCursorReply(f *testing.F) {
	cursor := func(fields ...bson.E) []byte {
		return marshal(f, bson.D{{Key: "ok", Value: 1.0}, {Key: "cursor", Value: bson.D(fields)}})
	}
	batch := bson.E{Key: "firstBatch", Value: bson.A{bson.D{{Key: "_id", Value: 1}}, 5}}
	f.Add(cursor(bson.E{Key: "id", Value: int64(7)}, bson.E{Key: "ns", Value: "a.b"}, batch))
	f.Add(cursor(batch, bson.E{Key: "postBatchResumeToken", Value: bson.D{{Key: "_data", Value: "82"}}}, bson.E{Key: "atClusterTime", Value: bson.Timestamp{T: 3, I: 1}}))
	f.Add(cursor(bson.E{Key: "nextBatch", Value: bson.A{}}, bson.E{Key: "id", Value: 7.0}))
	f.Add(cursor(bson.E{Key: "id", Value: "7"}, bson.E{Key: "firstBatch", Value: bson.D{}}))
	f.Add(cursor())
	f.Add(marshal(f, bson.D{{Key: "cursor", Value: 1}, {Key: "atClusterTime", Value: bson.Timestamp{T: 3}}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, again, ok := parsedTwice(t, body)
		if !ok {
			return
		}
		c, err := r.ReadCursor()
		other, errOfOther := again.ReadCursor()
		if (err == nil) != (errOfOther == nil) || c.ID != other.ID || !bytes.Equal(c.Batch, other.Batch) || r.snapshotTime() != again.snapshotTime() {
			t.Fatalf("with other bytes after the reply: %+v (%v), else %+v (%v)", other, errOfOther, c, err)
		}
		value, ok := unique(body, "cursor")
		document, isDocument := value.DocumentOK()
		if !ok || !isDocument {
			return
		}
		if id, ok := unique(document, "id"); ok && err == nil && (id.Type == bson.TypeInt32 || id.Type == bson.TypeInt64) && id.AsInt64() != c.ID {
			t.Errorf("the id is %d, want %v", c.ID, id)
		}
		if ns, ok := unique(document, "ns"); ok && err == nil && ns.Type == bson.TypeString && ns.StringValue() != string(c.Namespace) {
			t.Errorf("the namespace is %q, want %v", c.Namespace, ns)
		}
		if token, ok := unique(document, "postBatchResumeToken"); ok && err == nil && token.Type == bson.TypeEmbeddedDocument && !bytes.Equal(token.Value, c.ResumeToken) {
			t.Errorf("the token is %v, want %v", bson.Raw(c.ResumeToken), token)
		}
		first, hasFirst := unique(document, "firstBatch")
		next, hasNext := unique(document, "nextBatch")
		if hasFirst && !hasNext && (first.Type == bson.TypeArray) != (err == nil) || hasNext && !hasFirst && (next.Type == bson.TypeArray) != (err == nil) {
			t.Errorf("the error is %v", err)
		}
	})
}

// FuzzEndingReply gives arbitrary replies to the decoder of commitTransaction and abortTransaction, which must agree with the
// decoder that decides about retries.
func FuzzEndingReply(f *testing.F) {
	concern := func(fields ...bson.E) []byte {
		return marshal(f, bson.D{{Key: "ok", Value: 1}, {Key: "writeConcernError", Value: bson.D(fields)}, {Key: "errorLabels", Value: bson.A{"RetryableWriteError", 1}}})
	}
	f.Add(concern(bson.E{Key: "code", Value: 64}, bson.E{Key: "codeName", Value: "WriteConcernTimeout"}, bson.E{Key: "errmsg", Value: "x"}))
	f.Add(concern(bson.E{Key: "code", Value: 91.0}, bson.E{Key: "errmsg", Value: 1}))
	f.Add(concern(bson.E{Key: "code", Value: int64(1) << 40}))
	f.Add(concern())
	f.Add(marshal(f, bson.D{{Key: "ok", Value: 1}, {Key: "recoveryToken", Value: bson.D{}}}))
	f.Add(marshal(f, bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: 20}, {Key: "errmsg", Value: "Transaction numbers are only allowed"}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, again, ok := parsedTwice(t, body)
		if !ok {
			return
		}
		if r.noTransactionNumbers() != again.noTransactionNumbers() {
			t.Fatal("the bytes after the reply count")
		}
		err := endingCommand{name: "commitTransaction"}.Accept(r)
		if (err != nil) != (r.WriteConcernError != nil) {
			t.Fatalf("the error is %v, the write concern error %v", err, bson.Raw(r.WriteConcernError))
		}
		var e official.CommandError
		if !errors.As(err, &e) {
			return
		}
		if !bytes.Equal(e.Raw, body) || len(e.Labels) != len(r.LabelTexts()) {
			t.Errorf("the error has the reply %v and the labels %v", e.Raw, e.Labels)
		}
		if _, ok := unique(r.WriteConcernError, "code"); ok && e.Code != r.writeConcernCode() {
			t.Errorf("the code is %d, and %d for the retry", e.Code, r.writeConcernCode())
		}
		if text, ok := unique(r.WriteConcernError, "errmsg"); ok && text.Type == bson.TypeString && text.StringValue() != e.Message {
			t.Errorf("the message is %q, want %v", e.Message, text)
		}
	})
}
