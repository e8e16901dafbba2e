package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

type account struct {
	Owner   string `json:"owner"`
	Balance int    `json:"balance"`
}

func ExampleCollection_Get() {
	c, end := exampleCollection()
	defer end()
	_, err := c.Upsert("a", account{"Ada", 10}, &couchbase.UpsertOptions{Expiry: time.Hour})
	ok(err)

	result, err := c.Get("a", &couchbase.GetOptions{Timeout: 10 * time.Second, WithExpiry: true})
	ok(err)
	var a account
	ok(result.Content(&a))
	fmt.Println(a.Owner, a.Balance, "expires:", result.ExpiryTime().After(time.Now()))

	_, err = c.Get("b", nil)
	fmt.Println("not found:", errors.Is(err, couchbase.ErrDocumentNotFound))
	exists, err := c.Exists("a", &couchbase.ExistsOptions{Timeout: 10 * time.Second})
	ok(err)
	fmt.Println("exists:", exists.Exists())
	// Output:
	// Ada 10 expires: true
	// not found: true
	// exists: true
}

// Project reads some fields of a document.
func ExampleGetOptions() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "a", account{"Ada", 10}))
	result, err := c.Get("a", &couchbase.GetOptions{Project: []string{"owner"}})
	ok(err)
	var fields map[string]any
	ok(result.Content(&fields))
	fmt.Println(fields)
	// Output:
	// map[owner:Ada]
}

func insert(c *couchbase.Collection, id string, v any) error {
	_, err := c.Insert(id, v, &couchbase.InsertOptions{Timeout: 10 * time.Second})
	return err
}

func ExampleCollection_Insert() {
	c, end := exampleCollection()
	defer end()
	_, err := c.Insert("a", account{"Ada", 10}, &couchbase.InsertOptions{Expiry: time.Hour})
	ok(err)
	_, err = c.Insert("a", account{"Bob", 0}, nil)
	fmt.Println("exists:", errors.Is(err, couchbase.ErrDocumentExists))
	// Output:
	// exists: true
}

// The CAS of what was read makes sure that no other change is overwritten.
func ExampleCollection_Replace() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "a", account{"Ada", 10}))
	read, err := c.Get("a", nil)
	ok(err)
	cas := read.Cas()

	_, err = c.Replace("a", account{"Ada", 11}, &couchbase.ReplaceOptions{Cas: cas, PreserveExpiry: true})
	ok(err)
	_, err = c.Replace("a", account{"Ada", 9}, &couchbase.ReplaceOptions{Cas: cas})
	fmt.Println("somebody changed it:", errors.Is(err, couchbase.ErrCasMismatch))
	// Output:
	// somebody changed it: true
}

func ExampleCollection_Remove() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "a", 1))
	removed, err := c.Remove("a", &couchbase.RemoveOptions{Timeout: 10 * time.Second})
	ok(err)
	fmt.Println("a new CAS:", removed.Cas() != 0)
	_, err = c.Remove("a", nil)
	fmt.Println("not found:", errors.Is(err, couchbase.ErrDocumentNotFound))
	// Output:
	// a new CAS: true
	// not found: true
}

func ExampleCollection_Touch() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "session", "open"))
	_, err := c.Touch("session", time.Hour, &couchbase.TouchOptions{Timeout: 10 * time.Second})
	ok(err)
	result, err := c.GetAndTouch("session", 2*time.Hour, &couchbase.GetAndTouchOptions{Timeout: 10 * time.Second})
	ok(err)
	var state string
	ok(result.Content(&state))
	fmt.Println(state)
	// Output:
	// open
}

// A locked document can be changed only with the CAS that the lock returned, and then it is unlocked.
func ExampleCollection_GetAndLock() {
	c, end := exampleCollection()
	defer end()
	ok(insert(c, "a", account{"Ada", 10}))
	locked, err := c.GetAndLock("a", 15*time.Second, &couchbase.GetAndLockOptions{Timeout: 10 * time.Second})
	ok(err)
	ok(c.Unlock("a", locked.Cas(), &couchbase.UnlockOptions{Timeout: 10 * time.Second}))
	_, err = c.Replace("a", account{"Ada", 11}, nil)
	ok(err)
	err = c.Unlock("a", locked.Cas(), nil)
	fmt.Println("it is not locked any more:", errors.Is(err, couchbase.ErrDocumentNotLocked))
	// Output:
	// it is not locked any more: true
}

func ExampleCollection_Binary() {
	c, end := exampleCollection()
	defer end()
	counters := c.Binary()
	count, err := counters.Increment("visits", &couchbase.IncrementOptions{Initial: 10, Delta: 1})
	ok(err)
	fmt.Println(count.Content())
	count, err = counters.Decrement("visits", &couchbase.DecrementOptions{Initial: -1, Delta: 3})
	ok(err)
	fmt.Println(count.Content())

	_, err = c.Upsert("line", []byte("b"), &couchbase.UpsertOptions{Transcoder: couchbase.NewRawBinaryTranscoder()})
	ok(err)
	_, err = counters.Append("line", []byte("c"), &couchbase.AppendOptions{Timeout: 10 * time.Second})
	ok(err)
	_, err = counters.Prepend("line", []byte("a"), &couchbase.PrependOptions{Timeout: 10 * time.Second})
	ok(err)
	line, err := c.Get("line", &couchbase.GetOptions{Transcoder: couchbase.NewRawBinaryTranscoder()})
	ok(err)
	var text []byte
	ok(line.Content(&text))
	fmt.Printf("%s\n", text)
	// Output:
	// 10
	// 7
	// abc
}
