package query_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// command returns the document that extended JSON describes, if it is one that a client may send.
func command(text string) (bson.Raw, bool) {
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		return nil, false
	}
	data, err := bson.Marshal(d)
	return data, err == nil && query.Nesting(data, query.MaxNesting+1) <= query.MaxNesting && wellFormed(data)
}

// wellFormed checks a document to any depth.
func wellFormed(data []byte) bool {
	it := wire.Elements(data)
	for it.Next() {
		v := query.Of(it.Element)
		if (v.IsDocument() || v.IsArray()) && !wellFormed(v.Data) || (bson.RawValue{Type: v.Type, Value: v.Data}).Validate() != nil {
			return false
		}
	}
	return it.Err == nil
}

// cases returns the lines of the language's cases, which are compared with a real server, that begin with some text.
func cases(tb testing.TB, prefix string) []string {
	tb.Helper()
	var list []string
	for _, line := range spectest.Lines(tb, "../differential/testdata/cases/language/*.txt") {
		if strings.HasPrefix(line, prefix) {
			list = append(list, strings.TrimPrefix(strings.TrimSpace(line), "@ "))
		}
	}
	return list
}

// samples are documents of many shapes.
func samples(tb testing.TB) []bson.Raw {
	tb.Helper()
	var all []bson.Raw
	for _, insert := range cases(tb, "@ {") {
		for _, v := range query.Elements(query.Lookup(doc(tb, insert), "documents").Data) {
			all = append(all, v.Data)
		}
	}
	return all
}

// seed adds some of the commands of the cases.
func seed(f *testing.F) {
	f.Helper()
	for i, command := range cases(f, "{") {
		if i%9 == 0 {
			f.Add(command)
		}
	}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var refused *mongoerr.Error
	if !errors.As(err, &refused) || refused.Code == 0 || refused.Message == "" {
		t.Errorf("the error %#v is no refusal with code and text", err)
	}
}

// part returns the document that a command has under one of some names, or the whole.
func part(command []byte, names ...string) []byte {
	for _, name := range names {
		if v := query.Lookup(command, name); v.IsDocument() {
			return v.Data
		}
	}
	return command
}

// statement returns the first statement of an update command, or the whole.
func statement(command []byte) []byte {
	if v := query.Lookup(command, "updates"); v.IsArray() {
		return part(v.Data, "0")
	}
	return command
}

func FuzzParseFilter(f *testing.F) {
	seed(f)
	docs := samples(f)
	f.Fuzz(func(t *testing.T, text string) {
		data, ok := command(text)
		if !ok {
			t.Skip()
		}
		filter, err := query.ParseFilter(part(statement(data), "filter", "q", "query"))
		if err != nil {
			checkError(t, err)
			return
		}
		var m query.Matching
		for _, doc := range docs {
			was := filter.Match(doc)
			if is, err := filter.MatchWith(doc, &m); err != nil || is != was {
				t.Errorf("%s matches %v: %t, and with a Matching %t, %v", text, doc, was, is, err)
			}
		}
	})
}

func FuzzParseUpdate(f *testing.F) {
	seed(f)
	docs := samples(f)
	f.Fuzz(func(t *testing.T, text string) {
		data, ok := command(text)
		if !ok {
			t.Skip()
		}
		s := statement(data)
		change := query.Lookup(s, "u")
		if change.Missing() {
			change = query.Document(part(s, "update"))
		}
		u, err := query.ParseUpdate(change, query.Lookup(s, "arrayFilters"), query.Hooks{})
		if err != nil {
			checkError(t, err)
			return
		}
		for _, doc := range docs {
			before := string(doc)
			after, err := u.Apply(doc, query.Env{Now: time.UnixMilli(1_700_000_000_000)})
			switch {
			case err != nil:
				checkError(t, err)
			case !wellFormed(after):
				t.Errorf("%s makes no document of %v", text, doc)
			}
			if before != string(doc) {
				t.Fatalf("%s changes the document in place", text)
			}
		}
	})
}

func FuzzParseProjection(f *testing.F) {
	seed(f)
	docs := samples(f)
	f.Fuzz(func(t *testing.T, text string) {
		data, ok := command(text)
		if !ok {
			t.Skip()
		}
		filter, err := query.ParseFilter(part(data, "filter"))
		if err != nil {
			filter = nil
		}
		p, err := query.ParseProjection(part(data, "projection", "fields"), filter, query.Hooks{})
		if err != nil {
			checkError(t, err)
			return
		}
		for _, doc := range docs {
			if p == nil {
				return
			}
			out, err := p.AppendWith(nil, doc, nil)
			switch {
			case err != nil:
				checkError(t, err)
			case !wellFormed(out):
				t.Errorf("%s makes no document of %v", text, doc)
			}
		}
	})
}

func FuzzParseSort(f *testing.F) {
	seed(f)
	docs := samples(f)
	f.Fuzz(func(t *testing.T, text string) {
		data, ok := command(text)
		if !ok {
			t.Skip()
		}
		s, err := query.ParseSort(part(data, "sort"))
		if err != nil {
			checkError(t, err)
			return
		}
		for i, doc := range docs[1:] {
			if s.Check(doc) == nil && s.Check(docs[i]) == nil && s.Compare(doc, docs[i]) != -s.Compare(docs[i], doc) {
				t.Errorf("by %s, %v and %v are in no order", text, doc, docs[i])
			}
		}
	})
}
