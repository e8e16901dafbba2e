package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The limit is what a standalone server was seen to have: an array of 16,773,086 bytes.
func TestTheLargestValuesOfDistinct(t *testing.T) {
	client := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	const most = 16_773_065 // of two texts together
	for size, want := range map[int]int64{8_000_000: -1, most - 8_000_000: -1, most - 8_000_000 + 1: 17217} {
		client.ok(`{"delete": "c", "deletes": [{"q": {}, "limit": 0}], "$db": "db"}`)
		for i, n := range []int{8_000_000, size} {
			client.ok(`{"insert": "c", "documents": [{"_id": %d, "a": "%s"}], "$db": "db"}`, i, strings.Repeat(string(rune('a'+i)), n))
		}
		if got := number(client.run(`{"distinct": "c", "key": "a", "$db": "db"}`), "code"); got != want {
			t.Errorf("with %d bytes the code is %d, want %d", 8_000_000+size, got, want)
		}
	}
}
