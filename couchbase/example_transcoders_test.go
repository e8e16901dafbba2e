package couchbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/couchbase"
)

// A raw transcoder stores bytes or text as they are; the flags of a document say what it is.
func ExampleTranscoder() {
	for _, value := range []struct {
		transcoder couchbase.Transcoder
		content    any
	}{
		{couchbase.NewJSONTranscoder(), map[string]int{"n": 1}},
		{couchbase.NewRawJSONTranscoder(), []byte(`{"n":1}`)},
		{couchbase.NewRawStringTranscoder(), "text"},
		{couchbase.NewRawBinaryTranscoder(), []byte("bytes")},
		{couchbase.NewLegacyTranscoder(), "text"},
	} {
		encoded, flags, err := value.transcoder.Encode(value.content)
		ok(err)
		fmt.Printf("%s %#x\n", encoded, flags)
	}
	// Output:
	// {"n":1} 0x2000000
	// {"n":1} 0x2000000
	// text 0x4000000
	// bytes 0x3000000
	// text 0x4000000
}

// JSON that the application has already.
func ExampleRawJSONTranscoder() {
	c, end := exampleCollection()
	defer end()
	transcoder := couchbase.NewRawJSONTranscoder()
	_, err := c.Upsert("a", json.RawMessage(`{"n":1}`), &couchbase.UpsertOptions{Transcoder: transcoder})
	ok(err)
	result, err := c.Get("a", &couchbase.GetOptions{Transcoder: transcoder})
	ok(err)
	var raw []byte
	ok(result.Content(&raw))
	fmt.Printf("%s\n", raw)
	// Output:
	// {"n":1}
}

// upperCase is a transcoder of an application: it stores text in capitals.
type upperCase struct{ couchbase.RawStringTranscoder }

func (u *upperCase) Encode(value any) ([]byte, uint32, error) {
	text, isText := value.(string)
	if !isText {
		return nil, 0, errors.New("upperCase stores text only")
	}
	return u.RawStringTranscoder.Encode(strings.ToUpper(text))
}

func ExampleTranscoder_ofAnApplication() {
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{Transcoder: &upperCase{}})
	defer end()
	c := cluster.Bucket("default").DefaultCollection()
	ok(insert(c, "a", "text"))
	result, err := c.Get("a", nil)
	ok(err)
	var text string
	ok(result.Content(&text))
	fmt.Println(text)
	// Output:
	// TEXT
}
