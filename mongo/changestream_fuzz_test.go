package mongo

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// FuzzChangeEvent gives arbitrary events and resume tokens to a change stream. Whatever they are, the stream returns each event
// as it is, and knows the right token after it: the next stage $changeStream has that token. An event without a token ends the stream.
func FuzzChangeEvent(f *testing.F) {
	add := func(first, second, token bson.D, startsAfter bool) {
		var seeds [3][]byte
		for i, document := range []bson.D{first, second, token} {
			if document == nil {
				continue
			}
			b, err := bson.Marshal(document)
			if err != nil {
				f.Fatal(err)
			}
			seeds[i] = b
		}
		f.Add(seeds[0], seeds[1], seeds[2], startsAfter)
	}
	token := func(data string) bson.D { return bson.D{{Key: "_data", Value: data}} }
	event := func(data string, rest ...bson.E) bson.D {
		return append(bson.D{{Key: "_id", Value: token(data)}}, rest...)
	}
	fragment := func(number int32) bson.D {
		return bson.D{
			{Key: "_id", Value: bson.D{{Key: "_data", Value: "82"}, {Key: "fragmentNum", Value: number}}},
			{Key: "splitEvent", Value: bson.D{{Key: "fragment", Value: number + 1}, {Key: "of", Value: int32(2)}}},
		}
	}
	insert := bson.E{Key: "operationType", Value: "insert"}
	add(event("01", insert), event("02", bson.E{Key: "operationType", Value: "delete"}), token("03"), false)
	add(event("01", insert), event("02", bson.E{Key: "operationType", Value: "invalidate"}), nil, true)
	add(fragment(0), fragment(1), token("82"), false)
	add(fragment(0), fragment(1), nil, true)
	add(event("01"), bson.D{insert}, token("02"), false)                               // a token is missing
	add(bson.D{{Key: "_id", Value: "text"}}, event("02"), token("03"), false)          // it is no document
	add(bson.D{{Key: "_id", Value: bson.D{}}}, bson.D{}, bson.D{}, true)               // it is empty
	add(bson.D{insert, {Key: "_id", Value: token("01")}}, event("02"), bson.D{}, true) // it is not the first field
	f.Add([]byte{5, 0, 0, 0, 0}, []byte{4, 0, 0, 0}, []byte{5, 0, 0, 0, 1}, false)
	f.Fuzz(func(t *testing.T, first, second, batchToken []byte, startsAfter bool) {
		cursor, err := lastBatch(batchToken, first, second)
		if err != nil {
			return
		}
		s := &ChangeStream{cursor: cursor, opened: true, startsAfter: startsAfter}
		if !framed(first) || !framed(second) || batchToken != nil && !framed(batchToken) {
			for s.advance(t.Context()) { // the batch has other documents than these
			}
			return
		}
		checkResume(t, s, nil)
		for i, event := range [][]byte{first, second} {
			want := firstDocument(event, "_id")
			if got := s.advance(t.Context()); got != (want != nil) {
				t.Fatalf("event %d with the token %v: %t, %v", i, want, got, s.err)
			}
			if want == nil {
				if !errors.Is(s.err, ErrMissingResumeToken) || !s.ended || s.next(t.Context(), false) {
					t.Fatalf("event %d has no token, but the stream goes on: %v", i, s.err)
				}
				return
			}
			if !bytes.Equal(s.Current, event) {
				t.Fatalf("event %d is %v, want %v", i, s.Current, bson.Raw(event))
			}
			if i == 1 && batchToken != nil {
				want = batchToken
			}
			checkResume(t, s, want)
		}
		if s.advance(t.Context()) || !s.ended || s.err != nil {
			t.Fatalf("after the last batch the stream goes on: %v", s.err)
		}
	})
}

// checkResume checks the token of a stream, and that the stream would resume with it. An event was returned if there is a token.
func checkResume(t *testing.T, s *ChangeStream, token []byte) {
	t.Helper()
	if !bytes.Equal(s.ResumeToken(), token) || (s.ResumeToken() == nil) != (token == nil) {
		t.Fatalf("the token is %v, want %v", s.ResumeToken(), bson.Raw(token))
	}
	stage := firstDocument(bson.Raw(s.pipeline()), "$changeStream")
	if got := firstDocument(stage, "resumeAfter"); !bytes.Equal(got, token) {
		t.Fatalf("the stage is %v, want the token %v", stage, bson.Raw(token))
	}
	if elements, err := stage.Elements(); token == nil && (err != nil || len(elements) != 0) {
		t.Fatalf("the stage is %v, without a token", stage)
	}
	if token != nil && !bytes.Equal(startToken(wire.AppendDocument(nil, "resumeAfter", token)), token) {
		t.Fatalf("the token %v is not that of a new stream's options", bson.Raw(token))
	}
}

// firstDocument returns the first element of a document with that key if it is a document. Unlike the client's own code it uses
// package bson. It is nil if there is none.
func firstDocument(document bson.Raw, key string) bson.Raw {
	v, err := document.LookupErr(key)
	if err != nil {
		return nil
	}
	found, _ := v.DocumentOK()
	return found
}
