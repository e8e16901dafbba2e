package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// Each operation has its own result and its own error.
func ExampleCollection_Do() {
	c, end := exampleCollection()
	defer end()
	a := &couchbase.UpsertOp{ID: "a", Value: 1, Expiry: time.Hour}
	b := &couchbase.InsertOp{ID: "b", Value: 2}
	none := &couchbase.ReplaceOp{ID: "none", Value: 3}
	visits := &couchbase.IncrementOp{ID: "visits", Delta: 1, Initial: 7}
	ok(c.Do([]couchbase.BulkOp{a, b, none, visits}, &couchbase.BulkOpOptions{Timeout: time.Minute}))
	fmt.Println(a.Err, b.Err, errors.Is(none.Err, couchbase.ErrDocumentNotFound), visits.Result.Content())

	get := &couchbase.GetOp{ID: "a"}
	touched := &couchbase.GetAndTouchOp{ID: "b", Expiry: time.Hour}
	ok(c.Do([]couchbase.BulkOp{get, touched, &couchbase.DecrementOp{ID: "visits", Delta: 2, Initial: -1}}, nil))
	var x, y int
	ok(get.Result.Content(&x))
	ok(touched.Result.Content(&y))
	fmt.Println(x, y)

	ops := []couchbase.BulkOp{&couchbase.TouchOp{ID: "a", Expiry: 2 * time.Hour}, &couchbase.RemoveOp{ID: "b"}}
	ok(c.Do(ops, nil))
	fmt.Println(ops[0].(*couchbase.TouchOp).Err, ops[1].(*couchbase.RemoveOp).Err)
	// Output:
	// <nil> <nil> true 7
	// 1 2
	// <nil> <nil>
}

func ExampleAppendOp() {
	c, end := exampleCollection()
	defer end()
	text := couchbase.NewRawStringTranscoder()
	ok(c.Do([]couchbase.BulkOp{&couchbase.InsertOp{ID: "a", Value: "b"}, &couchbase.InsertOp{ID: "z", Value: "z"}}, &couchbase.BulkOpOptions{Transcoder: text}))
	after, before := &couchbase.AppendOp{ID: "a", Value: "c"}, &couchbase.PrependOp{ID: "z", Value: "y"}
	ok(c.Do([]couchbase.BulkOp{after, before}, nil))
	ok(errors.Join(after.Err, before.Err))
	a, z := &couchbase.GetOp{ID: "a"}, &couchbase.GetOp{ID: "z"}
	ok(c.Do([]couchbase.BulkOp{a, z}, &couchbase.BulkOpOptions{Transcoder: text}))
	var first, last string
	ok(errors.Join(a.Result.Content(&first), z.Result.Content(&last)))
	fmt.Println(first, last)
	// Output:
	// bc yz
}
