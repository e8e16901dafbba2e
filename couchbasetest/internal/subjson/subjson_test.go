package subjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func path(t *testing.T, text string) subjson.Path {
	t.Helper()
	p, status := subjson.ParsePath([]byte(text))
	if status != memd.StatusSuccess {
		t.Fatalf("the path %q: %v", text, status)
	}
	return p
}

func TestPathsAreChecked(t *testing.T) {
	for text, want := range map[string]memd.Status{
		"":                             0,
		"a":                            0,
		"a.b[3].c":                     0,
		"[0]":                          0,
		"a[-1]":                        0,
		"`a.b`.c":                      0,
		"`a``b`":                       0,
		"a.[1]":                        0,
		"a.":                           0,
		"a[1].":                        0,
		"a[1].[2]":                     0,
		"[0].":                         0,
		"a[]":                          0,
		"a[4294967296]":                0,
		"a[18446744073709551616]":      0,
		"a`.`b":                        0,
		"a``":                          0,
		`a\"b`:                         0,
		strings.Repeat("[0]", 31):      0,
		"a..b":                         memd.StatusPathInvalid,
		"a..":                          memd.StatusPathInvalid,
		"a[1]..b":                      memd.StatusPathInvalid,
		"a[1]..":                       memd.StatusPathInvalid,
		"a[1]b":                        memd.StatusPathInvalid,
		".":                            memd.StatusPathInvalid,
		".[1]":                         memd.StatusPathInvalid,
		".a":                           memd.StatusPathInvalid,
		"a[+1]":                        memd.StatusPathInvalid,
		"``":                           memd.StatusPathInvalid,
		`a"b`:                          memd.StatusPathInvalid,
		`a\`:                           memd.StatusPathInvalid,
		`a\u0041`:                      memd.StatusPathInvalid,
		"a\n":                          memd.StatusPathInvalid,
		"a[":                           memd.StatusPathInvalid,
		"a[x]":                         memd.StatusPathInvalid,
		"a[-2]":                        memd.StatusPathInvalid,
		"`a":                           memd.StatusPathInvalid,
		"a]":                           memd.StatusPathInvalid,
		strings.Repeat("a", 1025):      memd.StatusPathTooBig,
		strings.Repeat("a.", 31) + "a": memd.StatusPathTooBig,
		strings.Repeat("[0]", 32):      memd.StatusPathTooBig,
	} {
		if _, status := subjson.ParsePath([]byte(text)); status != want {
			t.Errorf("the path %q: %v, want %v", text, status, want)
		}
	}
}

func TestPathsLeadWhereTheServersOnesDo(t *testing.T) {
	doc := []byte(`{"array":[0,[10,11],{"b":12}],"a.b":1,"tick` + "`" + `":2,"quote\"":3,"<":4}`)
	for text, want := range map[string]string{
		"array.[1]":      "[10,11]",
		"array.[1].":     "[10,11]",
		"array[1].":      "[10,11]",
		"array[1].[0]":   "10",
		"array.[-1].b":   "12",
		"array[2].b.":    "12",
		"array[]":        "0",
		"`a.b`.":         "1",
		"a`.`b":          "1",
		"tick``":         "2",
		"`tick```":       "2",
		`quote\"`:        "3",
		"<":              "4",
		"array.[1].[00]": "10",
	} {
		if got, status := subjson.Get(doc, path(t, text)); status != 0 || string(got) != want {
			t.Errorf("at %q is %s, %v; want %s", text, got, status, want)
		}
	}
}

func TestChanges(t *testing.T) {
	insert := func(parents bool) func([]byte, subjson.Path, []byte) ([]byte, memd.Status) {
		return func(doc []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
			return subjson.Insert(doc, p, v, parents)
		}
	}
	upsert := func(parents bool) func([]byte, subjson.Path, []byte) ([]byte, memd.Status) {
		return func(doc []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
			return subjson.Upsert(doc, p, v, parents)
		}
	}
	pushLast := func(parents bool) func([]byte, subjson.Path, []byte) ([]byte, memd.Status) {
		return func(doc []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
			return subjson.ArrayAppend(doc, p, v, parents)
		}
	}
	pushFirst := func(doc []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
		return subjson.ArrayPrepend(doc, p, v, false)
	}
	unique := func(doc []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
		return subjson.ArrayAddUnique(doc, p, v, true)
	}
	remove := func(doc []byte, p subjson.Path, _ []byte) ([]byte, memd.Status) { return subjson.Remove(doc, p) }
	for _, test := range []struct {
		name             string
		change           func([]byte, subjson.Path, []byte) ([]byte, memd.Status)
		doc, path, value string
		want             string
		status           memd.Status
	}{
		{"insert into an empty object", insert(false), `{}`, "a", "1", `{"a":1}`, 0},
		{"insert keeps the white space", insert(false), "{ \"a\" : 1 }", "b", "2", "{ \"a\" : 1,\"b\":2 }", 0},
		{"insert by a path with a dot at the end", insert(false), `{}`, "a.", "1", `{"a":1}`, 0},
		{"insert by a name that JSON escapes", insert(false), `{}`, `a\"<b`, "1", `{"a\"<b":1}`, 0},
		{"insert of what exists", insert(false), `{"a":1}`, "a", "2", "", memd.StatusPathExists},
		{"insert without parents", insert(false), `{}`, "a.b", "1", "", memd.StatusPathNotFound},
		{"insert with parents", insert(true), `{"x":0}`, "a.b.c", "1", `{"x":0,"a":{"b":{"c":1}}}`, 0},
		{"insert into a number", insert(true), `{"a":1}`, "a.b", "1", "", memd.StatusPathMismatch},
		{"insert at an index", insert(true), `{"a":[1]}`, "a[0]", "1", "", memd.StatusPathInvalid},
		{"insert of no JSON", insert(true), `{}`, "a", "x", "", memd.StatusCannotInsert},
		{"upsert of what exists", upsert(false), `{"a":{"b":1},"c":2}`, "a", "[]", `{"a":[],"c":2}`, 0},
		{"upsert by a name with a dot", upsert(false), `{"a.b":1}`, "`a.b`", "2", `{"a.b":2}`, 0},
		{"upsert by an escaped name", upsert(false), `{"\u0061":1}`, "a", "2", `{"\u0061":2}`, 0},
		{"replace of nothing", subjson.Replace, `{}`, "a", "1", "", memd.StatusPathNotFound},
		{"replace of an element", subjson.Replace, `{"a":[1,{"b":"]"},3]}`, "a[1].b", `2`, `{"a":[1,{"b":2},3]}`, 0},
		{"remove of the only member", remove, `{"a":1}`, "a", "", `{}`, 0},
		{"remove of the first member", remove, `{"a":1,"b":2}`, "a", "", `{"b":2}`, 0},
		{"remove of the last element", remove, `[1,2,3]`, "[-1]", "", `[1,2]`, 0},
		{"remove of an element after a dot", remove, `{"a":[1,2]}`, "a.[0]", "", `{"a":[2]}`, 0},
		{"insert an element after a dot", subjson.ArrayInsert, `{"a":[1,3]}`, "a.[1]", `2`, `{"a":[1,2,3]}`, 0},
		{"append to an array before a dot", pushLast(false), `{"a":[1]}`, "a.", `2`, `{"a":[1,2]}`, 0},
		{"remove of all", remove, `[1]`, "", "", "", memd.StatusPathInvalid},
		{"append to the document", pushLast(false), `[]`, "", "1,2", `[1,2]`, 0},
		{"append to an array", pushLast(false), `{"a":[1]}`, "a", `"x"`, `{"a":[1,"x"]}`, 0},
		{"append to nothing", pushLast(false), `{}`, "a", `1`, "", memd.StatusPathNotFound},
		{"append creates an array", pushLast(true), `{}`, "a.b", `1`, `{"a":{"b":[1]}}`, 0},
		{"append to an object", pushLast(true), `{"a":{}}`, "a", `1`, "", memd.StatusPathMismatch},
		{"append of no JSON", pushLast(true), `[]`, "", `1]`, "", memd.StatusCannotInsert},
		{"prepend", pushFirst, `[1]`, "", `0`, `[0,1]`, 0},
		{"prepend to an empty array", pushFirst, `[]`, "", `0`, `[0]`, 0},
		{"insert an element", subjson.ArrayInsert, `[1,3]`, "[1]", `2`, `[1,2,3]`, 0},
		{"insert an element at the end", subjson.ArrayInsert, `[1]`, "[1]", `2`, `[1,2]`, 0},
		{"insert an element after the end", subjson.ArrayInsert, `[1]`, "[2]", `2`, "", memd.StatusPathNotFound},
		{"insert an element at -1", subjson.ArrayInsert, `[1]`, "[-1]", `2`, "", memd.StatusPathInvalid},
		{"add unique", unique, `["a"]`, "", `"b"`, `["a","b"]`, 0},
		{"add unique what is there", unique, `["a"]`, "", `"a"`, "", memd.StatusPathExists},
		{"add unique beside an object", unique, `[{}]`, "", `"a"`, "", memd.StatusPathMismatch},
		{"add unique an object", unique, `[]`, "", `{}`, "", memd.StatusCannotInsert},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, status := test.change([]byte(test.doc), path(t, test.path), []byte(test.value))
			if status != test.status || string(got) != test.want {
				t.Errorf("got %s, %v; want %s, %v", got, status, test.want, test.status)
			}
		})
	}
}

func TestCounters(t *testing.T) {
	for _, test := range []struct {
		doc, delta   string
		want, number string
		status       memd.Status
	}{
		{`{"n":1}`, "2", `{"n":3}`, "3", 0},
		{`{"n":1}`, "-2", `{"n":-1}`, "-1", 0},
		{`{}`, "5", `{"n":5}`, "5", 0},
		{`{"n":1}`, "0", "", "", memd.StatusDeltaInvalid},
		{`{"n":1}`, "x", "", "", memd.StatusDeltaInvalid},
		{`{"n":"1"}`, "1", "", "", memd.StatusPathMismatch},
		{`{"n":1.5}`, "1", "", "", memd.StatusPathMismatch},
		{`{"n":99999999999999999999}`, "1", "", "", memd.StatusNumberRange},
		{`{"n":9223372036854775807}`, "1", "", "", memd.StatusCannotInsert},
	} {
		got, number, status := subjson.Counter([]byte(test.doc), path(t, "n"), []byte(test.delta), false)
		if status != test.status || string(got) != test.want || string(number) != test.number {
			t.Errorf("%s plus %s is %s, %s, %v; want %s, %s, %v", test.doc, test.delta, got, number, status, test.want, test.number, test.status)
		}
	}
}

func TestReads(t *testing.T) {
	doc := []byte(` {"a": [1, {"b": "x]}"}, [ ]], "c": null} `)
	for p, want := range map[string]string{"a[1].b": `"x]}"`, "a[-1]": `[ ]`, "c": `null`, "": `{"a": [1, {"b": "x]}"}, [ ]], "c": null}`} {
		if got, status := subjson.Get(doc, path(t, p)); status != 0 || string(got) != want {
			t.Errorf("at %q is %s, %v; want %s", p, got, status, want)
		}
	}
	if n, status := subjson.Count(doc, path(t, "a")); n != 3 || status != 0 {
		t.Errorf("the array has %d elements, %v; want 3", n, status)
	}
	if _, status := subjson.Count(doc, path(t, "c")); status != memd.StatusPathMismatch {
		t.Errorf("the count of null is %v", status)
	}
	if status := subjson.Check([]byte(strings.Repeat("[", 33) + strings.Repeat("]", 33))); status != memd.StatusDocumentTooDeep {
		t.Errorf("a document with 33 levels is %v", status)
	}
}

// FuzzChanges changes documents by any paths: what comes out is JSON, and the argument stays as it was.
func FuzzChanges(f *testing.F) {
	for _, doc := range []string{`{}`, `[]`, `{"a":[1,{"b":"\"]"}],"c":{"d":null}}`, ` [ 1 , 2 ] `, `"x"`, `12`} {
		for _, p := range []string{"", "a", "a[1].b", "[0]", "[-1]", "c.d", "x.y", "a[2]"} {
			f.Add([]byte(doc), []byte(p), []byte(`{"n":1}`))
		}
	}
	f.Fuzz(func(t *testing.T, doc, text, value []byte) {
		p, status := subjson.ParsePath(text)
		if status != 0 || subjson.Check(doc) != 0 {
			return
		}
		before := string(doc)
		counter := func(doc []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
			changed, _, status := subjson.Counter(doc, p, v, true)
			return changed, status
		}
		for i, change := range []func([]byte, subjson.Path, []byte) ([]byte, memd.Status){
			func(d []byte, p subjson.Path, v []byte) ([]byte, memd.Status) { return subjson.Insert(d, p, v, true) },
			func(d []byte, p subjson.Path, v []byte) ([]byte, memd.Status) { return subjson.Upsert(d, p, v, true) },
			func(d []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
				return subjson.ArrayAppend(d, p, v, true)
			},
			func(d []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
				return subjson.ArrayPrepend(d, p, v, true)
			},
			func(d []byte, p subjson.Path, v []byte) ([]byte, memd.Status) {
				return subjson.ArrayAddUnique(d, p, v, true)
			},
			func(d []byte, p subjson.Path, _ []byte) ([]byte, memd.Status) { return subjson.Remove(d, p) },
			subjson.Replace, subjson.ArrayInsert, counter,
		} {
			changed, status := change(doc, p, value)
			if string(doc) != before {
				t.Fatalf("change %d has changed its argument %s to %s", i, before, doc)
			}
			if status == 0 && !json.Valid(changed) {
				t.Fatalf("change %d of %s at %q with %s gives %s", i, doc, text, value, changed)
			}
		}
	})
}
