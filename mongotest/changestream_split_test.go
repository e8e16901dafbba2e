package mongotest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

const splits = `{"$changeStreamSplitLargeEvent": {}}`

// withLargeEvent writes a document of 9 MB and replaces it, in a collection with images. A stream that has the image before the change then
// has an event of 18 MB.
func withLargeEvent(c *rawClient) {
	c.ok(`{"create": "c", "changeStreamPreAndPostImages": {"enabled": true}, "$db": "db"}`)
	c.ok(`{"insert": "c", "documents": [{"_id": 1, "s": "%s"}], "$db": "db"}`, strings.Repeat("a", 9<<20))
}

func replaceLarge(c *rawClient) {
	c.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"_id": 1, "s": "%s"}}], "$db": "db"}`, strings.Repeat("b", 9<<20))
}

// fragmentNumbers returns "fragment/of" of each event, and its _data's text when it is no fragment.
func fragmentNumbers(events []bson.Raw) []string {
	var list []string
	for _, e := range events {
		if e.Lookup("splitEvent").Type == 0 {
			list = append(list, e.Lookup("operationType").StringValue())
			continue
		}
		list = append(list, fmt.Sprintf("%d/%d", number(e, "splitEvent", "fragment"), number(e, "splitEvent", "of")))
	}
	return list
}

func TestALargeEventIsSplit(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		withLargeEvent(c)
		s, _ := watch(c, "db.c", `{"fullDocumentBeforeChange": "required"}`, splits)
		replaceLarge(c)
		c.ok(`{"insert": "c", "documents": [{"_id": 2}], "$db": "db"}`)
		first := s.more()
		if got := fragmentNumbers(first); !slices.Equal(got, []string{"1/2"}) || s.token.String() != first[0].Lookup("_id").String() {
			t.Fatalf("the first batch has %q, its position is %s", got, s.token)
		}
		rest := s.rest()
		if got := fragmentNumbers(rest); !slices.Equal(got, []string{"2/2", "insert"}) {
			t.Fatalf("then there are %q", got)
		}
		joined := append(fieldNames(first[0]), fieldNames(rest[0])...)
		slices.Sort(joined)
		want := []string{
			"_id", "_id", "clusterTime", "documentKey", "fullDocument", "fullDocumentBeforeChange", "ns", "operationType", "splitEvent", "splitEvent", "wallTime",
		}
		if !slices.Equal(joined, want) {
			t.Errorf("the fragments have %q, want %q", joined, want)
		}
		for i, want := range [][]string{{"2/2", "insert"}, {"insert"}} { // behind the first fragment, behind the second
			token := append(first, rest...)[i].Lookup("_id")
			for _, option := range []string{"resumeAfter", "startAfter"} {
				s, events := watch(c, "db.c", fmt.Sprintf(`{"fullDocumentBeforeChange": "required", "%s": %s}`, option, token), splits)
				if got := fragmentNumbers(append(events, s.rest()...)); !slices.Equal(got, want) {
					t.Errorf("with %s behind fragment %d there are %q, want %q", option, i+1, got, want)
				}
			}
		}
	})
}

func fieldNames(doc bson.Raw) []string {
	var names []string
	elements, _ := doc.Elements()
	for _, e := range elements {
		names = append(names, e.Key())
	}
	return names
}

func TestAStreamCannotResumeBehindAFragmentWithoutTheSameSplit(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		withLargeEvent(c)
		s, _ := watch(c, "db.c", `{"fullDocumentBeforeChange": "required"}`, splits)
		replaceLarge(c)
		fragments := append(s.more(), s.more()...)
		for _, test := range []struct {
			name, spec string
			stages     []string
			want       string
		}{
			{"no stage", `{"resumeAfter": %s}`, nil, "must include a $changeStreamSplitLargeEvent stage"},
			{"no image", `{"resumeAfter": %s}`, []string{splits}, "was not large enough to be split"},
		} {
			reply := c.run("%s", watching("db.c", fmt.Sprintf(test.spec, fragments[1].Lookup("_id")), test.stages...))
			if number(reply, "code") != 280 || !strings.Contains(reply.String(), test.want) {
				t.Errorf("%s: %.300s, want 280 and %q", test.name, reply, test.want)
			}
		}
	})
}

func TestALargeEventThatIsNotSplitIsAnError(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		withLargeEvent(c)
		s, _ := watch(c, "db.c", `{"fullDocumentBeforeChange": "required"}`)
		replaceLarge(c)
		reply := c.run(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, s.id)
		if number(reply, "code") != 10334 || !strings.Contains(reply.String(), "Size must be between 0 and 16793600(16MB) First element: _id: { _data:") {
			t.Errorf("the reply is %.500s", reply)
		}
	})
}

func TestLargeEventsAreSplitFromAVersionOn(t *testing.T) {
	for version, code := range map[string]int64{"6.0.8": 40324, "6.0.9": -1, "7.0.0": -1} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			if got := number(dial(t, rs, 0).run("%s", watching("db.c", `{}`, splits)), "code"); got != code {
				t.Errorf("version %s: code %d, want %d", version, got, code)
			}
		}, mongotest.Version(version))
	}
}

// TestTheOfficialDriverResumesBehindAFragment loses the cursor between two fragments.
func TestTheOfficialDriverResumesBehindAFragment(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		withLargeEvent(c)
		pipeline := []bson.D{{{Key: "$changeStreamSplitLargeEvent", Value: bson.D{}}}}
		images := options.ChangeStream().SetFullDocumentBeforeChange(options.Required)
		s, err := connect(t, rs).Database("db").Collection("c").Watch(t.Context(), pipeline, images)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close(t.Context()) }()
		replaceLarge(c)
		var got []bson.Raw
		for range 2 {
			if !s.Next(t.Context()) {
				t.Fatalf("there is no event: %v", s.Err())
			}
			got = append(got, slices.Clone(s.Current))
			c.ok(`{"configureFailPoint": "failGetMoreAfterCursorCheckout", "mode": {"times": 1}, "data": {"errorCode": 43}, "$db": "admin"}`)
		}
		if list := fragmentNumbers(got); !slices.Equal(list, []string{"1/2", "2/2"}) {
			t.Errorf("the events are %q", list)
		}
	})
}
