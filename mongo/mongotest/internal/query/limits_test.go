package query_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// nested returns n documents, one in the other.
func nested(n int) string { return strings.Repeat(`{"a": `, n) + "1" + strings.Repeat("}", n) }

// nestings are updates that make a document of n levels of one that has fewer, or of none.
func nestings(n int) []string {
	return []string{
		fmt.Sprintf(`{"q": {}, "u": {"$set": {"z": %s}}}`, nested(n-1)),
		fmt.Sprintf(`{"q": {}, "u": {"$set": {"%s": 1}}}`, strings.Repeat("a.", n-1)+"a"),
		fmt.Sprintf(`{"q": {}, "u": {"$push": {"z": %s}}}`, nested(n-2)),
		fmt.Sprintf(`{"q": {}, "u": {"z": %s}}`, nested(n-1)),
		fmt.Sprintf(`{"q": {"_id": 2}, "u": {"z": %s}, "upsert": true}`, nested(n-1)),
		fmt.Sprintf(`{"q": {}, "u": {"$rename": {"b": "%s"}}}`, strings.Repeat("a.", n-2)+"a"),
		fmt.Sprintf(`{"q": {}, "u": [{"$replaceWith": {"$literal": {"z": %s}}}]}`, nested(n-1)),
	}
}

var shallow = `[{"_id": 1, "b": {"c": 1}}]`

func TestADocumentHasAtMost180Levels(t *testing.T) {
	for _, n := range []int{3, 179, 180, 181} {
		for _, command := range nestings(n) {
			answer := memory{}.run(t, array(t, shallow), doc(t, full(command)))
			if refused := strings.HasPrefix(answer, "15: "); refused != (n > query.MaxStoredNesting) {
				t.Errorf("%d levels by %.60s: %.200s", n, command, answer)
			}
		}
	}
}

func TestNestingAgainstARealServer(t *testing.T) {
	server := reference(t)
	for _, n := range []int{179, 180, 181} {
		for _, command := range nestings(n) {
			docs, c := array(t, shallow), doc(t, full(command))
			if got, want := (memory{}).run(t, docs, c), server.run(t, docs, c); got != want {
				t.Errorf("%d levels by %.60s:\ngot  %.300s\nwant %.300s", n, command, got, want)
			}
		}
	}
}

// large are updates that make a document larger than 16 MiB of one that is not, and of none.
func large(t *testing.T) ([]bson.Raw, []bson.Raw) {
	t.Helper()
	half := strings.Repeat("x", 9<<20)
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "b", Value: half}}}}
	encode := func(d bson.D) bson.Raw {
		b, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	update := func(q bson.D) bson.Raw {
		one := bson.D{{Key: "q", Value: q}, {Key: "u", Value: set}, {Key: "upsert", Value: true}}
		return encode(bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{one}}})
	}
	docs := []bson.Raw{encode(bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: half}})}
	return docs, []bson.Raw{update(bson.D{}), update(bson.D{{Key: "_id", Value: 2}, {Key: "a", Value: half + "y"}})}
}

func TestADocumentHasAtMost16MiB(t *testing.T) {
	docs, commands := large(t)
	for _, c := range commands {
		if answer := (memory{}).run(t, docs, c); !strings.HasPrefix(answer, "10334: ") {
			t.Errorf("the answer is %.200s", answer)
		}
	}
}

func TestSizeAgainstARealServer(t *testing.T) {
	server := reference(t)
	docs, commands := large(t)
	for _, c := range commands {
		if got, want := (memory{}).run(t, docs, c), server.run(t, docs, c); got != want {
			t.Errorf("got  %.300s\nwant %.300s", got, want)
		}
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
