package calls

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	couchbase "github.com/couchbase/gocb/v2"
)

func lookupSteps() []Step {
	specs := map[string]couchbase.LookupInSpec{
		"get": couchbase.GetSpec("n", nil), "get of all": couchbase.GetSpec("", nil),
		"get of an xattr": couchbase.GetSpec("$document.exptime", &couchbase.GetSpecOptions{IsXattr: true}),
		"exists":          couchbase.ExistsSpec("n", nil), "exists of an xattr": couchbase.ExistsSpec("x", &couchbase.ExistsSpecOptions{IsXattr: true}),
		"count": couchbase.CountSpec("list", nil), "count of all": couchbase.CountSpec("", nil),
		"count of an xattr": couchbase.CountSpec("x", &couchbase.CountSpecOptions{IsXattr: true}),
		"a part of no path": couchbase.GetSpec("o.none[3]", nil),
	}
	var all []Step
	look := func(name string, o *couchbase.LookupInOptions, specs ...couchbase.LookupInSpec) {
		all = append(all, after("lookup-in: "+name, func(c *Client, _ couchbase.Cas) error { return first(c.c.LookupIn("doc", specs, o)) }))
	}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		look(name, nil, specs[name])
	}
	look("several", nil, specs["get"], specs["exists"], specs["count"], specs["get of all"])
	look("an xattr after paths of the document", nil, specs["get"], specs["count"], specs["get of an xattr"], specs["get of all"])
	look("xattrs and all", nil, specs["get of an xattr"], specs["exists of an xattr"], specs["get of all"])
	deleted := &couchbase.LookupInOptions{}
	deleted.Internal.DocFlags = couchbase.SubdocDocFlagAccessDeleted
	look("access deleted", deleted, specs["get"])
	look("access deleted, an xattr", deleted, specs["get of an xattr"], specs["get"])
	many := make([]couchbase.LookupInSpec, 16)
	for i := range many {
		many[i] = couchbase.GetSpec(fmt.Sprintf("f%d", i), nil)
	}
	look("16", nil, many...)
	look("a long path", nil, couchbase.GetSpec(strings.Repeat("p", 1000), nil))
	return all
}

// changes returns one change of each kind and flags.
func changes() map[string]couchbase.MutateInSpec {
	all := map[string]couchbase.MutateInSpec{
		"insert of a whole document": couchbase.InsertSpec("", map[string]any{"a": 1}, nil), "upsert of a whole document": couchbase.UpsertSpec("", map[string]any{"a": 1}, nil),
		"replace of a whole document": couchbase.ReplaceSpec("", map[string]any{"a": 1}, nil), "remove of a whole document": couchbase.RemoveSpec("", nil),
		"replace": couchbase.ReplaceSpec("n", 2, nil), "replace of an xattr": couchbase.ReplaceSpec("x", 2, &couchbase.ReplaceSpecOptions{IsXattr: true}),
		"remove": couchbase.RemoveSpec("n", nil), "remove of an xattr": couchbase.RemoveSpec("x", &couchbase.RemoveSpecOptions{IsXattr: true}),
		"several elements at the end":       couchbase.ArrayAppendSpec("list", []int{7, 8}, &couchbase.ArrayAppendSpecOptions{HasMultiple: true}),
		"several elements at the beginning": couchbase.ArrayPrependSpec("list", []any{"7", nil, true}, &couchbase.ArrayPrependSpecOptions{HasMultiple: true}),
		"several elements between":          couchbase.ArrayInsertSpec("list[1]", []string{"7"}, &couchbase.ArrayInsertSpecOptions{HasMultiple: true}),
		"an array as one element":           couchbase.ArrayAppendSpec("list", []int{7, 8}, nil),
		"null":                              couchbase.UpsertSpec("z", nil, nil), "characters of HTML": couchbase.UpsertSpec("z", "<&>", nil),
		"a message": couchbase.UpsertSpec("z", json.RawMessage(`{"x": 1}`), nil), "bytes": couchbase.UpsertSpec("z", []byte("abc"), nil),
		"a long value":                   couchbase.UpsertSpec("z", strings.Repeat("abc", 100), nil),
		"a decrement":                    couchbase.DecrementSpec("n", 5, nil),
		"a decrement by a negative":      couchbase.DecrementSpec("n", -5, nil),
		"an increment by a negative":     couchbase.IncrementSpec("n", -5, nil),
		"a macro without the xattr flag": couchbase.UpsertSpec("z", couchbase.MutationMacroCAS, nil),
		"a macro as text":                couchbase.UpsertSpec("z", "${Mutation.CAS}", &couchbase.UpsertSpecOptions{IsXattr: true}),
	}
	for _, create := range []bool{false, true} {
		for _, attribute := range []bool{false, true} {
			name := fmt.Sprintf(", create path %v, xattr %v", create, attribute)
			all["insert"+name] = couchbase.InsertSpec("new.path", 1, &couchbase.InsertSpecOptions{CreatePath: create, IsXattr: attribute})
			all["upsert"+name] = couchbase.UpsertSpec("up", map[string]any{"y": "z"}, &couchbase.UpsertSpecOptions{CreatePath: create, IsXattr: attribute})
			all["append"+name] = couchbase.ArrayAppendSpec("list", "e", &couchbase.ArrayAppendSpecOptions{CreatePath: create, IsXattr: attribute})
			all["prepend"+name] = couchbase.ArrayPrependSpec("list", "e", &couchbase.ArrayPrependSpecOptions{CreatePath: create, IsXattr: attribute})
			all["array insert"+name] = couchbase.ArrayInsertSpec("list[0]", "e", &couchbase.ArrayInsertSpecOptions{CreatePath: create, IsXattr: attribute})
			all["add unique"+name] = couchbase.ArrayAddUniqueSpec("list", 9, &couchbase.ArrayAddUniqueSpecOptions{CreatePath: create, IsXattr: attribute})
			all["increment"+name] = couchbase.IncrementSpec("i", 5, &couchbase.CounterSpecOptions{CreatePath: create, IsXattr: attribute})
			all["decrement"+name] = couchbase.DecrementSpec("i", 5, &couchbase.CounterSpecOptions{CreatePath: create, IsXattr: attribute})
		}
	}
	for i, m := range []couchbase.MutationMacro{couchbase.MutationMacroCAS, couchbase.MutationMacroSeqNo, couchbase.MutationMacroValueCRC32c} {
		all[fmt.Sprint("upsert of macro ", i)] = couchbase.UpsertSpec("x", m, &couchbase.UpsertSpecOptions{IsXattr: true})
		all[fmt.Sprint("insert of macro ", i)] = couchbase.InsertSpec("x", m, &couchbase.InsertSpecOptions{IsXattr: true, CreatePath: true})
		all[fmt.Sprint("replace of macro ", i)] = couchbase.ReplaceSpec("x", m, &couchbase.ReplaceSpecOptions{IsXattr: true})
		all[fmt.Sprint("append of macro ", i)] = couchbase.ArrayAppendSpec("x", m, &couchbase.ArrayAppendSpecOptions{IsXattr: true, CreatePath: true})
		all[fmt.Sprint("prepend of macro ", i)] = couchbase.ArrayPrependSpec("x", m, &couchbase.ArrayPrependSpecOptions{IsXattr: true, CreatePath: true})
		all[fmt.Sprint("array insert of macro ", i)] = couchbase.ArrayInsertSpec("x[0]", m, &couchbase.ArrayInsertSpecOptions{IsXattr: true, CreatePath: true})
		all[fmt.Sprint("add unique of macro ", i)] = couchbase.ArrayAddUniqueSpec("x", m, &couchbase.ArrayAddUniqueSpecOptions{IsXattr: true, CreatePath: true})
	}
	return all
}

// changeSteps sends each change. Whether the document allows it does not matter: the request is compared.
func changeSteps() []Step {
	var all []Step
	kinds := changes()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		change := kinds[name]
		all = append(all, after("mutate-in: "+name, func(c *Client, _ couchbase.Cas) error {
			_, _ = c.c.MutateIn("doc", []couchbase.MutateInSpec{change}, nil)
			return nil
		}))
	}
	return all
}

func changeOptionSteps() []Step {
	one := []couchbase.MutateInSpec{couchbase.UpsertSpec("a", 1, nil)}
	attribute := couchbase.UpsertSpec("x", 1, &couchbase.UpsertSpecOptions{IsXattr: true, CreatePath: true})
	var all []Step
	add := func(name string, specs []couchbase.MutateInSpec, o couchbase.MutateInOptions) {
		all = append(
			all,
			after("mutate-in: "+name, func(c *Client, _ couchbase.Cas) error {
				_, _ = c.c.MutateIn("doc", specs, &o)
				return nil
			}),
			step("mutate-in of no document: "+name, func(c *Client) error {
				_, _ = c.c.MutateIn("new "+name, specs, &o)
				return nil
			}),
		)
	}
	add("semantics replace", one, couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsReplace})
	add("semantics upsert", one, couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsUpsert})
	add("semantics insert", one, couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsInsert})
	add("upsert with preserved expiry", one, couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsUpsert, PreserveExpiry: true})
	add("preserve expiry", one, couchbase.MutateInOptions{PreserveExpiry: true})
	add("preserve expiry and a level", one, couchbase.MutateInOptions{PreserveExpiry: true, DurabilityLevel: couchbase.DurabilityLevelMajority})
	flags := map[string]couchbase.SubdocDocFlag{
		"make document": couchbase.SubdocDocFlagMkDoc, "add document": couchbase.SubdocDocFlagAddDoc, "access deleted": couchbase.SubdocDocFlagAccessDeleted,
		"create as deleted": couchbase.SubdocDocFlagCreateAsDeleted | couchbase.SubdocDocFlagAddDoc | couchbase.SubdocDocFlagAccessDeleted,
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		o := couchbase.MutateInOptions{}
		o.Internal.DocFlags = flags[name]
		add("flag: "+name, []couchbase.MutateInSpec{attribute}, o)
	}
	add("an xattr after a path of the document", []couchbase.MutateInSpec{one[0], attribute, couchbase.RemoveSpec("n", nil)}, couchbase.MutateInOptions{})
	add("an xattr and no document", []couchbase.MutateInSpec{attribute, couchbase.RemoveSpec("", nil)}, couchbase.MutateInOptions{})
	return append(
		all,
		after("mutate-in: an xattr and a whole document", func(c *Client, _ couchbase.Cas) error {
			return first(c.c.MutateIn("doc", []couchbase.MutateInSpec{attribute, couchbase.ReplaceSpec("", map[string]any{"w": 1}, nil)}, nil))
		}),
		after("mutate-in: CAS", func(c *Client, cas couchbase.Cas) error {
			return first(c.c.MutateIn("doc", one, &couchbase.MutateInOptions{Cas: cas}))
		}),
		Step{"mutate-in: persist to 1, replicate to 1", func(c *Client) error {
			return first(c.c.MutateIn("observed part", one, &couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsUpsert, PersistTo: 1, ReplicateTo: 1}))
		}, 3},
	)
}
