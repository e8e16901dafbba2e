package changes

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func encode(t *testing.T, doc bson.D) []byte {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// written returns a store in which d.c was created, a document inserted and updated, and d.c dropped.
func written(t *testing.T) *store.Store {
	t.Helper()
	st, def := store.New(), store.NewDefinition()
	before, key, err := store.Prepared(encode(t, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	after := encode(t, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 2}})
	for _, e := range []*store.Entry{
		{Op: store.Create, Change: &store.Change{After: def}},
		{Op: store.Put, Key: key, After: before},
		{Op: store.Put, Key: key, Before: before, After: after},
		{Op: store.Drop},
	} {
		e.NS, e.TS = "d.c", st.Newest()+1
		e.Concern(def)
		st.Apply(e)
	}
	return st
}

// open opens a stream of d.c from a time on.
func open(t *testing.T, st *store.Store, spec bson.D) *Stream {
	t.Helper()
	parsed, err := ParseSpec(version.Newest, query.Document(encode(t, spec)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(parsed, version.Newest, "d", "c", st, st.Log.Last())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// operationTypes reads a stream to its end, and returns the tokens of the events too.
func operationTypes(t *testing.T, s *Stream, st *store.Store, committed int64) (types string, tokens [][]byte) {
	t.Helper()
	var list []string
	for {
		doc, err := s.Next(st, committed)
		if err != nil {
			t.Fatal(err)
		}
		if doc == nil {
			return strings.Join(list, " "), tokens
		}
		if passed, err := s.Passed(true); err != nil {
			t.Fatal(err)
		} else if !passed {
			continue
		}
		name, token := query.Lookup(doc, "operationType"), query.Lookup(doc, "_id")
		list, tokens = append(list, string(name.Text())), append(tokens, token.Data)
	}
}

var fromTheBeginning = bson.D{{Key: "startAtOperationTime", Value: bson.Timestamp{I: 1}}}

func TestAStreamTellsOfEachEntryUntilItsCollectionIsDropped(t *testing.T) {
	st := written(t)
	s := open(t, st, fromTheBeginning)
	if got, _ := operationTypes(t, s, st, 3); got != "insert update" || s.Ended() {
		t.Errorf("before the drop the events are %q, ended %t", got, s.Ended())
	}
	if got, _ := operationTypes(t, s, st, 4); got != "drop invalidate" || !s.Ended() {
		t.Errorf("then they are %q, ended %t", got, s.Ended())
	}
}

func TestAStreamResumesBehindAToken(t *testing.T) {
	st := written(t)
	_, tokens := operationTypes(t, open(t, st, fromTheBeginning), st, 4)
	for i, want := range []string{"update drop invalidate", "drop invalidate", "invalidate"} {
		s := open(t, st, bson.D{{Key: "resumeAfter", Value: bson.Raw(tokens[i])}})
		if got, _ := operationTypes(t, s, st, 4); got != want {
			t.Errorf("behind event %d there are %q, want %q", i, got, want)
		}
	}
}

func TestTokensSortAsTheirPositionsAndAreReadBack(t *testing.T) {
	id := store.NewUUID()
	list := []token{
		{at: 1},
		{at: 1, event: true, collection: id, operation: "insert"},
		{at: 1, event: true, collection: id, operation: "insert", fragment: 1},
		{at: 1, event: true, collection: id, operation: "insert", fragment: 2},
		{at: 1, event: true, collection: id, operation: "insert", fragment: 300},
		{at: 1, event: true, index: 1, collection: id, operation: "drop"},
		{at: 1, event: true, index: 1, collection: id, operation: "drop", invalidate: true},
		{at: 1, event: true, index: 300, collection: id, operation: "insert"},
		{at: 1 << 32},
	}
	for i, token := range list {
		read, err := tokenOf(token.document())
		if err != nil || *read != token {
			t.Errorf("%+v is read as %+v, %v", token, read, err)
		}
		if i > 0 && list[i-1].text() >= token.text() {
			t.Errorf("%+v does not sort behind the one before it", token)
		}
	}
	for name, doc := range map[string]bson.D{
		"no text":         {{Key: "_data", Value: 1}},
		"no hexadecimals": {{Key: "_data", Value: "xyz"}},
		"cut off":         {{Key: "_data", Value: list[1].text()[:20]}},
	} {
		if _, err := tokenOf(encode(t, doc)); err == nil || mongoerr.CodeOf(err) == mongoerr.InvalidBSON {
			t.Errorf("a token with %s: %v", name, err)
		}
	}
}

func TestAnUpdateIsDescribedByTheInnermostFieldsThatDiffer(t *testing.T) {
	type d = bson.D
	for _, test := range []struct {
		name          string
		before, after bson.D
		want          string
	}{
		{"a field that changed", d{{Key: "a", Value: 1}}, d{{Key: "a", Value: 2}}, "updatedFields: { a: 2 }, removedFields: [], truncatedArrays: []"},
		{"a field that is gone", d{{Key: "a", Value: 1}}, d{}, "updatedFields: {}, removedFields: [ \"a\" ], truncatedArrays: []"},
		{
			"a field of an embedded document",
			d{{Key: "a", Value: d{{Key: "b", Value: 1}, {Key: "c", Value: 1}}}},
			d{{Key: "a", Value: d{{Key: "b", Value: 1}, {Key: "c", Value: 2}}}},
			"updatedFields: { a.c: 2 }, removedFields: [], truncatedArrays: []",
		},
		{
			"an array that became shorter",
			d{{Key: "a", Value: bson.A{1, 2, 3}}},
			d{{Key: "a", Value: bson.A{1}}},
			"updatedFields: {}, removedFields: [], truncatedArrays: [ { field: \"a\", newSize: 1 } ]",
		},
	} {
		dst := compareDocuments(encode(t, test.before), encode(t, test.after), true).append([]byte{0, 0, 0, 0}, false)
		dst = append(dst, 0)
		dst[0] = byte(len(dst))
		if got := query.DocumentText(query.Lookup(dst, "updateDescription").Data); got != "{ "+test.want+" }" {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

// tokenOf reads a token that a client gives back.
func tokenOf(doc []byte) (*token, error) {
	data, err := tokenData(doc)
	if err != nil {
		return nil, err
	}
	return parseToken(data)
}
