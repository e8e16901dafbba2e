package couchbase_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
)

// The expiry comes with a look-up, whose answer has no flags: they are a virtual attribute.
func TestGetWithExpiryReadsTheFlags(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		binary := couchbase.NewRawBinaryTranscoder()
		if _, err := c.Upsert("binary", []byte{0, 1}, &couchbase.UpsertOptions{Transcoder: binary}); err != nil {
			t.Fatal(err)
		}
		r, err := c.Get("binary", &couchbase.GetOptions{WithExpiry: true, Transcoder: binary})
		if err != nil {
			t.Fatal(err)
		}
		var content []byte
		if err := r.Content(&content); err != nil || string(content) != "\x00\x01" {
			t.Errorf("the content is %q, the error %v", content, err)
		}
	})
}
