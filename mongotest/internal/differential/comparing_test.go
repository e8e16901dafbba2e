package differential

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The tests here are of the comparison itself: what it would not notice no other test would.

func TestWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		about, reply, reason string
		recorded             []string
		wrong                bool
	}{
		{"as the real server", "a", "", []string{"a"}, false},
		{"recorded wrong", "a", "", []string{"b"}, true},
		{"a difference without a reply of its own", "a", "because", []string{"b"}, true},
		{"a difference with its reason", "a", "because", []string{"b", "a"}, false},
		{"a difference without a reason", "a", "", []string{"b", "a"}, true},
		{"a difference that is another one now", "c", "because", []string{"b", "a"}, true},
		{"a difference that is gone", "b", "because", []string{"b", "a"}, true},
		{"nothing recorded", "a", "because", nil, true},
	} {
		l := &caseLine{replies: test.recorded}
		if wrong := l.wrong(test.reply, test.reason); (wrong != "") != test.wrong {
			t.Errorf("%s: %q", test.about, wrong)
		}
	}
}

func TestLinesOfCases(t *testing.T) {
	lines, err := parseCases("# about\n@ {}\n\n{1}\n\treply\n\tours\n{2}\n")
	if err != nil || len(lines) != 5 || !slices.Equal(lines[3].replies, []string{"reply", "ours"}) || lines[4].replies != nil {
		t.Errorf("%v, %v", lines, err)
	}
	for _, text := range []string{" {1}\n", "find\n", "\treply\n", "# about\n\treply\n"} {
		if _, err := parseCases(text); err == nil {
			t.Errorf("%q is passed over", text)
		}
	}
}

func TestRowsOfDifferences(t *testing.T) {
	table, err := parseDifferences("# why\na.txt {1}\na.txt {2}\n\n# why not\nb.txt {1}\n")
	if err != nil {
		t.Fatal(err)
	}
	if why := table.reason("a.txt", "{1}") + ", " + table.reason("b.txt", "{1}") + ", " + table.reason("b.txt", "{2}"); why != "why, why not, " {
		t.Error(why)
	}
	if rows := table.unused(func(string) bool { return true }); !slices.Equal(rows, []string{"a.txt {2}"}) {
		t.Error(rows)
	}
	if rows := table.unused(func(place string) bool { return place == "b.txt" }); rows != nil {
		t.Errorf("%v of a place that was not asked", rows)
	}
	for _, text := range []string{"a.txt {1}\n", "# why\na.txt {1}\na.txt {1}\n"} {
		if _, err := parseDifferences(text); err == nil {
			t.Errorf("%q is passed over", text)
		}
	}
}

// TestPairSeesADifference asks two servers of our own, of which one has a document that the other has not.
func TestPairSeesADifference(t *testing.T) {
	p := &pair{db: "pair", ours: &server{dial: ours(t, recordedVersion)}, theirs: &server{dial: ours(t, recordedVersion)}}
	if _, err := p.ours.run(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}, {Key: "$db", Value: p.db}}); err != nil {
		t.Fatal(err)
	}
	for name, same := range map[string]bool{"find": false, "count": false, "ping": true} {
		a, err := p.ask(bson.D{{Key: name, Value: "c"}, {Key: "$db", Value: p.db}})
		if err != nil || a.same() != same {
			t.Errorf("%s: %q and %q are the same: %v, %v", name, a.ours.text, a.theirs.text, a.same(), err)
		}
	}
}
