package query_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// nested returns n documents, one in the other.
func nested(n int) string { return strings.Repeat(`{"a": `, n) + "1" + strings.Repeat("}", n) }

func TestADocumentHasAtMost16MiB(t *testing.T) {
	half := strings.Repeat("x", 9<<20)
	u, err := query.ParseUpdate(value(t, `{"$set": {"b": "`+half+`"}}`), query.Value{}, query.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = u.Apply(doc(t, `{"_id": 1, "a": "`+half+`"}`), query.Env{})
	var refused *mongoerr.Error
	if !errors.As(err, &refused) || refused.Code != 10334 {
		t.Errorf("the error is %.200v", err)
	}
}

func TestNestingCountsDocumentsAndArrays(t *testing.T) {
	for text, want := range map[string]int{
		`{}`:                           1,
		`{"a": 1}`:                     1,
		`{"a": {}}`:                    2,
		`{"a": [{"b": [1]}], "c": {}}`: 4,
	} {
		if n := query.Nesting(doc(t, text), 10); n != want {
			t.Errorf("%s has %d levels, want %d", text, n, want)
		}
	}
	if n := query.Nesting(doc(t, nested(50)), 10); n != 10 {
		t.Errorf("of 50 levels %d were counted, want 10", n)
	}
}
