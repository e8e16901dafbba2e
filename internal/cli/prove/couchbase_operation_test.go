package prove

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestTheOperationOfASubDocumentCommand(t *testing.T) {
	mutation := func(paths ...string) (value []byte) {
		for _, p := range paths {
			value = memd.AppendMutation(value, memd.Spec{Op: memd.OpSubdocCounter, Path: []byte(p), Value: []byte("1")})
		}
		return value
	}
	for _, c := range []struct {
		name  string
		value []byte
		want  OpID
		ok    bool
	}{
		{"an increment", mutation("n", "ops.w3_17"), OpID{3, 17}, true},
		{"another counter", mutation("n", "x"), OpID{}, false},
		{"a field that is not an operation's", mutation("n", "ops.x"), OpID{}, false},
		{"not a sub-document command", []byte("ops.w3_17"), OpID{}, false},
		{"nothing", nil, OpID{}, false},
	} {
		p, ok := partOfMutation(c.value)
		if ok != c.ok || ok && p != (part{c.want, FirstStep}) {
			t.Errorf("%s: recognised as %v, %t", c.name, p, ok)
		}
	}
}

func TestNoMoreThan50OperationsShareADocumentAndNoTwoWriters(t *testing.T) {
	count, owner := make(map[string]int), make(map[string]int)
	for w := range 4 {
		for i := range 1000 {
			name := couchbaseDocument(OpID{w, i}, 4)
			if by, shared := owner[name]; shared && by != w {
				t.Errorf("%s is shared", name)
			}
			owner[name] = w
			if count[name]++; count[name] > Couchbase.perDocument {
				t.Errorf("%s has %d operations", name, count[name])
			}
		}
	}
}
