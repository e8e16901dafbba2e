package couchbase

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestSpecsAsTheServerTakesThem(t *testing.T) {
	for _, c := range []struct {
		name string
		spec MutateInSpec
		want memd.Spec
	}{
		{"insert", InsertSpec("a", 1, nil), memd.Spec{Op: memd.OpSubdocDictAdd, Path: []byte("a"), Value: []byte("1")}},
		{"upsert with its parents", UpsertSpec("a.b", "x", &UpsertSpecOptions{CreatePath: true}), memd.Spec{
			Op: memd.OpSubdocDictSet, Flags: memd.SpecCreatePath, Path: []byte("a.b"), Value: []byte(`"x"`),
		}},
		{"replace", ReplaceSpec("a", nil, nil), memd.Spec{Op: memd.OpSubdocReplace, Path: []byte("a"), Value: []byte("null")}},
		{"replace the document", ReplaceSpec("", 1, nil), memd.Spec{Op: memd.OpSet, Value: []byte("1")}},
		{"remove", RemoveSpec("a", &RemoveSpecOptions{IsXattr: true}), memd.Spec{Op: memd.OpSubdocDelete, Flags: memd.SpecXattr, Path: []byte("a")}},
		{"remove the document", RemoveSpec("", nil), memd.Spec{Op: memd.OpDelete}},
		{"append several", ArrayAppendSpec("a", []int{1, 2}, &ArrayAppendSpecOptions{HasMultiple: true}), memd.Spec{
			Op: memd.OpSubdocArrayPushLast, Path: []byte("a"), Value: []byte("1,2"),
		}},
		{"prepend one array", ArrayPrependSpec("a", []int{1, 2}, nil), memd.Spec{
			Op: memd.OpSubdocArrayPushFirst, Path: []byte("a"), Value: []byte("[1,2]"),
		}},
		{"insert into an array", ArrayInsertSpec("a[0]", true, nil), memd.Spec{Op: memd.OpSubdocArrayInsert, Path: []byte("a[0]"), Value: []byte("true")}},
		{"add once", ArrayAddUniqueSpec("a", 1, nil), memd.Spec{Op: memd.OpSubdocArrayAddUnique, Path: []byte("a"), Value: []byte("1")}},
		{"decrement", DecrementSpec("a", 3, nil), memd.Spec{Op: memd.OpSubdocCounter, Path: []byte("a"), Value: []byte("-3")}},
		{"a macro", UpsertSpec("a", MutationMacroCAS, &UpsertSpecOptions{IsXattr: true}), memd.Spec{
			Op: memd.OpSubdocDictSet, Flags: memd.SpecXattr | memd.SpecExpandMacros, Path: []byte("a"), Value: []byte(`"${Mutation.CAS}"`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.spec.encode("ops[0]")
			if err != nil || got.Op != c.want.Op || got.Flags != c.want.Flags || string(got.Path) != string(c.want.Path) || string(got.Value) != string(c.want.Value) {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestExtendedAttributesAreSentFirst(t *testing.T) {
	_, order, err := encodeLookup([]LookupInSpec{GetSpec("a", nil), GetSpec("x", &GetSpecOptions{IsXattr: true}), GetSpec("", nil), ExistsSpec("y", &ExistsSpecOptions{IsXattr: true})})
	if err != nil || !slices.Equal(order, []int{1, 3, 0, 2}) {
		t.Errorf("%v %v", order, err)
	}
}

func TestTheOrderOfChanges(t *testing.T) {
	xattr := &UpsertSpecOptions{IsXattr: true}
	for _, c := range []struct {
		name string
		ops  []MutateInSpec
		want []int
	}{
		{"attributes are sent first, each kind in the caller's order", []MutateInSpec{UpsertSpec("a", 1, nil), UpsertSpec("x", 1, xattr), UpsertSpec("b", 1, nil), UpsertSpec("y", 1, xattr)}, []int{1, 3, 0, 2}},
		{"a macro is about an attribute, whether the option says so or not", []MutateInSpec{UpsertSpec("a", 1, nil), UpsertSpec("x", MutationMacroCAS, nil)}, []int{1, 0}},
		{"the same path twice keeps its order", []MutateInSpec{UpsertSpec("a", 1, nil), UpsertSpec("a", 2, nil)}, []int{0, 1}},
	} {
		value, order, err := encodeMutation(c.ops)
		if err != nil || !slices.Equal(order, c.want) {
			t.Errorf("%s: %v %v", c.name, order, err)
		}
		if len(value) == 0 {
			t.Errorf("%s: nothing is sent", c.name)
		}
	}
}

func TestSpecsThatNoServerTakes(t *testing.T) {
	long := strings.Repeat("p", 1025)
	lookup := func(specs ...LookupInSpec) error { _, _, err := encodeLookup(specs); return err }
	mutation := func(specs ...MutateInSpec) error { _, _, err := encodeMutation(specs); return err }
	for _, c := range []struct {
		name string
		err  error
		says string
	}{
		{"no look-up", lookup(), "at least one"},
		{"17 look-ups", lookup(make([]LookupInSpec, 17)...), "at most 16"},
		{"no change", mutation(), "at least one"},
		{"17 changes", mutation(make([]MutateInSpec, 17)...), "at most 16"},
		{"a long path of a look-up", lookup(GetSpec(long, nil)), "ops[0]"},
		{"a long path of a change", mutation(RemoveSpec("a", nil), RemoveSpec(long, nil)), "ops[1]"},
		{"an insert of the whole document", mutation(InsertSpec("", 1, nil)), "ops[0]"},
		{"an upsert of the whole document", mutation(UpsertSpec("", 1, nil)), "ops[0]"},
		{"several values that are no slice", mutation(ArrayAppendSpec("a", 1, &ArrayAppendSpecOptions{HasMultiple: true})), "ops[0]"},
	} {
		if !errors.Is(c.err, ErrInvalidArgument) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	if err := mutation(UpsertSpec("a", make(chan int), nil)); !errors.Is(err, ErrEncodingFailure) || !strings.Contains(err.Error(), "ops[0]") {
		t.Errorf("a value that does not become JSON: %v", err)
	}
}

func TestDurabilityOptions(t *testing.T) {
	for _, c := range []struct {
		name                   string
		level                  DurabilityLevel
		persistTo, replicateTo uint
		says                   string // in the error; empty: there is none
	}{
		{"none", DurabilityLevelNone, 0, 0, ""},
		{"a level", DurabilityLevelPersistToMajority, 0, 0, ""},
		{"observed counts", DurabilityLevelUnknown, 4, 3, ""},
		{"none with observed counts", DurabilityLevelNone, 1, 0, ""},
		{"both", DurabilityLevelMajority, 1, 0, "exclude each other"},
		{"an unknown level", 77, 0, 0, "DurabilityLevel 77"},
		{"too many nodes", 0, 5, 0, "PersistTo"},
		{"too many replicas", 0, 0, 4, "ReplicateTo"},
	} {
		_, err := parseDurability(c.level, c.persistTo, c.replicateTo)
		if (c.says == "") != (err == nil) || (err != nil && (!errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), c.says))) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
