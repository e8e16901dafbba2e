package couchbase_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
)

// Parts on extended attributes are sent first. The error names the part by its place in the application's list.
func TestASubdocumentErrorNamesItsPart(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", map[string]int{"x": 1}, nil))
		insert, other := couchbase.InsertSpec("x", 1, nil), couchbase.UpsertSpec("y", 1, nil)
		attribute := couchbase.UpsertSpec("z", 1, &couchbase.UpsertSpecOptions{IsXattr: true})
		mutate := func(id string, parts ...couchbase.MutateInSpec) error { return second(c.MutateIn(id, parts, nil)) }
		read := func(index uint, parts ...couchbase.LookupInSpec) error {
			return must[*couchbase.LookupInResult](t)(c.LookupIn("a", parts, nil)).ContentAt(index, new(any))
		}
		there, missing := couchbase.GetSpec("x", nil), couchbase.GetSpec("none", nil)
		const exists, notFound = "sub-document error at index %: path exists", "sub-document error at index %: path not found"
		for _, test := range []struct {
			name  string
			err   error
			kind  error
			index string
			text  string
		}{
			{"a mutation of one part", mutate("a", insert), couchbase.ErrPathExists, "0", exists},
			{"a mutation's second part", mutate("a", other, insert), couchbase.ErrPathExists, "1", exists},
			{"a part before an attribute", mutate("a", other, insert, attribute), couchbase.ErrPathExists, "1", exists},
			{"no part failed", mutate("none", other), couchbase.ErrDocumentNotFound, "", "document not found"},
			{"a look-up", read(0, missing), couchbase.ErrPathNotFound, "0", notFound},
			{"a look-up's second part", read(1, there, missing), couchbase.ErrPathNotFound, "1", notFound},
			{"a look-up with an attribute", read(0, missing, couchbase.GetSpec("q", &couchbase.GetSpecOptions{IsXattr: true})), couchbase.ErrPathNotFound, "0", notFound},
		} {
			want := strings.Replace(test.text, "%", test.index, 1) + " | {"
			var public *couchbase.KeyValueError
			if !errors.Is(test.err, test.kind) || !errors.As(test.err, &public) || !strings.HasPrefix(test.err.Error(), want) {
				t.Errorf("%s: %v\nwant %s", test.name, test.err, want)
			}
		}
	})
}
