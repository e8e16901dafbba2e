package couchbase_test

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// Extended attributes come first.
func ExampleCollection_LookupIn() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "a", map[string]any{"name": "Ada", "tags": []string{"x", "y"}}))

	result, err := c.LookupIn("a", []couchbase.LookupInSpec{
		couchbase.GetSpec("$document.deleted", &couchbase.GetSpecOptions{IsXattr: true}),
		couchbase.GetSpec("name", nil),
		couchbase.CountSpec("tags", &couchbase.CountSpecOptions{}),
		couchbase.ExistsSpec("age", &couchbase.ExistsSpecOptions{}),
	}, &couchbase.LookupInOptions{Timeout: 10 * time.Second})
	ok(err)
	var deleted bool
	ok(result.ContentAt(0, &deleted))
	var name string
	ok(result.ContentAt(1, &name))
	var tags int
	ok(result.ContentAt(2, &tags))
	fmt.Println(name, tags, result.Exists(3), deleted)

	err = result.ContentAt(9, &tags)
	fmt.Println("there is no such spec:", errors.Is(err, couchbase.ErrInvalidArgument))
	// Output:
	// Ada 2 false false
	// there is no such spec: true
}

func ExampleCollection_MutateIn() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "a", map[string]any{"name": "Ada", "old": 1, "tags": []string{"m"}}))

	result, err := c.MutateIn("a", []couchbase.MutateInSpec{
		couchbase.InsertSpec("address.city", "London", &couchbase.InsertSpecOptions{CreatePath: true}),
		couchbase.UpsertSpec("age", 36, &couchbase.UpsertSpecOptions{}),
		couchbase.ReplaceSpec("name", "Ada L.", &couchbase.ReplaceSpecOptions{}),
		couchbase.RemoveSpec("old", &couchbase.RemoveSpecOptions{}),
		couchbase.IncrementSpec("visits", 5, &couchbase.CounterSpecOptions{CreatePath: true}),
		couchbase.DecrementSpec("visits", 2, nil),
		couchbase.ArrayAppendSpec("tags", []string{"y", "z"}, &couchbase.ArrayAppendSpecOptions{HasMultiple: true}),
		couchbase.ArrayPrependSpec("tags", "a", &couchbase.ArrayPrependSpecOptions{}),
		couchbase.ArrayInsertSpec("tags[1]", "b", &couchbase.ArrayInsertSpecOptions{}),
		couchbase.ArrayAddUniqueSpec("tags", "u", &couchbase.ArrayAddUniqueSpecOptions{}),
	}, &couchbase.MutateInOptions{Timeout: 10 * time.Second})
	ok(err)
	var visits int
	ok(result.ContentAt(5, &visits))
	fmt.Println("visits:", visits)
	printDocument(c, "a")
	// Output:
	// visits: 3
	// map[address:map[city:London] age:36 name:Ada L. tags:[a b m y z u] visits:3]
}

func printDocument(c *couchbase.Collection, id string) {
	result, err := c.Get(id, nil)
	ok(err)
	var document any
	ok(result.Content(&document))
	fmt.Println(document)
}

// The server replaces a macro by what it knows when the document is written.
func ExampleMutationMacro() {
	c, end := exampleCollection()
	defer end()
	changed, err := c.MutateIn("a", []couchbase.MutateInSpec{
		couchbase.UpsertSpec("audit.cas", couchbase.MutationMacroCAS, &couchbase.UpsertSpecOptions{IsXattr: true, CreatePath: true}),
		couchbase.UpsertSpec("name", "Ada", nil),
	}, &couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsUpsert})
	ok(err)
	result, err := c.LookupIn("a", []couchbase.LookupInSpec{
		couchbase.GetSpec("audit.cas", &couchbase.GetSpecOptions{IsXattr: true}),
	}, nil)
	ok(err)
	var cas string
	ok(result.ContentAt(0, &cas))
	fmt.Println("the CAS is in the document:", cas == littleEndian(changed.Cas()))
	// Output:
	// the CAS is in the document: true
}

// littleEndian is the form in which the server writes a CAS into a document.
func littleEndian(cas couchbase.Cas) string {
	return fmt.Sprintf("0x%016x", bits.ReverseBytes64(uint64(cas)))
}

// The flags of a document are for layers above this package, such as transactions.
func ExampleSubdocDocFlag() {
	c, end := exampleCollection()
	defer end()
	flags := couchbase.SubdocDocFlagAddDoc
	options := &couchbase.MutateInOptions{}
	options.Internal.DocFlags = flags
	specs := []couchbase.MutateInSpec{couchbase.UpsertSpec("name", "Ada", nil)}
	_, err := c.MutateIn("a", specs, options)
	ok(err)
	_, err = c.MutateIn("a", specs, options)
	fmt.Println("exists:", errors.Is(err, couchbase.ErrDocumentExists))
	// Output:
	// exists: true
}
