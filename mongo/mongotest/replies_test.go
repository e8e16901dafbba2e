package mongotest_test

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// The files testdata/replies/*.txt hold commands and what a real server answers, one case after the other:
//
//	# the rule that the case checks
//	> the command, as extended JSON; without $db it goes to the file's own database
//	< the real server's reply
//	! why this server answers otherwise, where it does
//	= what it answers
//
// -record writes the replies of the real server that HOLDFAST_MONGODB_URI names, and this server's where there is a "!".
var record = flag.Bool("record", false, "write testdata/replies anew")

// replyCase is one case of such a file.
type replyCase struct{ rule, command, reply, why, ours string }

func readReplies(t testing.TB, path string) []replyCase {
	t.Helper()
	f := must[*os.File](t)(os.Open(path))
	defer f.Close()
	var cases []replyCase
	rule := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		mark, text, _ := strings.Cut(s.Text(), " ")
		if mark == ">" {
			cases = append(cases, replyCase{rule: rule, command: text})
		}
		if mark == "#" || mark == "" {
			rule = text
			continue
		}
		c := &cases[len(cases)-1]
		switch mark {
		case "<":
			c.reply = text
		case "!":
			c.why = text
		case "=":
			c.ours = text
		}
	}
	return cases
}

func writeReplies(t *testing.T, path string, cases []replyCase) {
	t.Helper()
	var b strings.Builder
	rule := ""
	for _, c := range cases {
		if c.rule != rule {
			if rule != "" {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "# %s\n", c.rule)
			rule = c.rule
		}
		fmt.Fprintf(&b, "> %s\n< %s\n", c.command, c.reply)
		if c.why != "" {
			fmt.Fprintf(&b, "! %s\n= %s\n", c.why, c.ours)
		}
	}
	must[any](t)(nil, os.WriteFile(path, []byte(b.String()), 0o600))
}

// playReplies sends a file's commands and returns the replies.
func playReplies(t *testing.T, c *rawClient, db string, cases []replyCase) []string {
	t.Helper()
	for _, name := range []string{db, db + "_other"} {
		c.run(`{"dropDatabase": 1, "$db": "%s"}`, name)
		t.Cleanup(func() { c.run(`{"dropDatabase": 1, "$db": "%s"}`, name) })
	}
	replies := make([]string, len(cases))
	for i, one := range cases {
		command := strings.ReplaceAll(one.command, "DB", db)
		if !strings.Contains(command, `"$db"`) {
			command = strings.TrimSuffix(command, "}") + `, "$db": "` + db + `"}`
		}
		replies[i] = strings.ReplaceAll(normalise(c.run("%s", command)), db, "DB")
	}
	return replies
}

func replyFiles(t testing.TB) []string {
	t.Helper()
	files := must[[]string](t)(filepath.Glob(filepath.Join("testdata", "replies", "*.txt")))
	if len(files) == 0 {
		t.Fatal("testdata/replies is empty")
	}
	return files
}

const repliesDB = "mongotest_replies"

func TestRepliesAreTheRealServers(t *testing.T) {
	for _, path := range replyFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			cases := readReplies(t, path)
			c := dial(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.JournalLimit(0), mongotest.Version("8.0")), 0)
			for i, got := range playReplies(t, c, repliesDB, cases) {
				want := cases[i].reply
				if cases[i].why != "" {
					want = cases[i].ours
				}
				if *record {
					cases[i].ours = got
				} else if got != want {
					t.Errorf("%s: %s\ngot  %s\nwant %s", cases[i].rule, cases[i].command, got, want)
				}
			}
			if *record {
				writeReplies(t, path, cases)
			}
		})
	}
}

func TestRealServerGivesTheReplies(t *testing.T) {
	uri := must[*url.URL](t)(url.Parse(spectest.Server(t)))
	for _, path := range replyFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			cases := readReplies(t, path)
			for i, got := range playReplies(t, dialAt(t, new(net.Dialer).DialContext, uri.Host), repliesDB, cases) {
				if *record {
					cases[i].reply = got
				} else if got != cases[i].reply {
					t.Errorf("%s: %s\ngot  %s\nwant %s", cases[i].rule, cases[i].command, got, cases[i].reply)
				}
			}
			if *record {
				writeReplies(t, path, cases)
			}
		})
	}
}

// unstable are fields that differ from run to run or between a set's member and a standalone: times, the set's own, a
// newer version's.
var unstable = append([]string{
	"commitQuorum", "totalSize", "sizeOnDisk", "topologyVersion", "2dsphereIndexVersion",
	"millis", "fsUsedSize", "fsTotalSize",
}, volatile...)

var unstableTexts = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`\{"\$numberInt":"(-?\d+)"\}`), "$1"},
	{regexp.MustCompile(`\{"\$numberDouble":"([^"]+)"\}`), "$1"},
	{regexp.MustCompile(`\{"\$numberLong":"(-?\d+)"\}`), "${1}L"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`"uuid": ?\{"\$binary":[^}]*\}\}`), `"uuid": UUID`},
	{regexp.MustCompile(`,"collation": \{"locale": "simple"\}`), ""},                                 // of listIndexes
	{regexp.MustCompile(`"id": [1-9]\d*L`), `"id": CURSOR`},                                          // of a cursor that stays open
	{regexp.MustCompile(`Tree: .*?(\\n)* planner returned`), " planner returned"},                    // how a filter was understood
	{regexp.MustCompile(`(not supported in partial index): .*?"`), `$1"`},                            // the same
	{regexp.MustCompile(`index build on empty collection failed: UUID :: caused by :: `), ""},        // where it came up
	{regexp.MustCompile(`collection scan stopped\. .*? :: caused by :: `), ""},                       // the same
	{regexp.MustCompile(`Index build failed: UUID: Collection \S+ \( UUID \) :: caused by :: `), ""}, // the same
	{regexp.MustCompile(`(must hint by index name)\. .*?","code"`), `$1","code"`},                    // how indexes are described
}

// normalise writes a reply without what may differ between two servers that say the same.
func normalise(reply bson.Raw) string {
	b := must2(bson.Marshal(stable(reply)))
	text := bson.Raw(b).String()
	for _, u := range unstableTexts {
		text = u.pattern.ReplaceAllString(text, u.as)
	}
	return text
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// stable leaves out the unstable fields, at any depth, and brings lists of collections into an order.
func stable(doc bson.Raw) bson.D {
	out := bson.D{}
	for _, e := range must2(doc.Elements()) {
		if !slices.Contains(unstable, e.Key()) {
			out = append(out, bson.E{Key: e.Key(), Value: stableValue(e.Value())})
		}
	}
	return out
}

func stableValue(v bson.RawValue) any {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return ordered(stable(v.Document()))
	case bson.TypeArray:
		list := bson.A{}
		for _, each := range must2(v.Array().Values()) {
			list = append(list, stableValue(each))
		}
		if len(list) > 0 && nameOf(list[0]) != "" {
			slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(nameOf(a), nameOf(b)) })
		}
		return list
	}
	return v
}

// ordered puts the fields of a cursor in the order in which most commands have them.
func ordered(doc bson.D) bson.D {
	rank := map[string]int{"firstBatch": 0, "nextBatch": 0, "id": 1, "ns": 2}
	for _, e := range doc {
		if _, ok := rank[e.Key]; !ok {
			return doc
		}
	}
	slices.SortFunc(doc, func(a, b bson.E) int { return rank[a.Key] - rank[b.Key] })
	return doc
}

// nameOf returns the name of a collection or database in a list, "" for anything else.
func nameOf(v any) string {
	doc, ok := v.(bson.D)
	if !ok || len(doc) == 0 || doc[0].Key != "name" {
		return ""
	}
	name, _ := doc[0].Value.(bson.RawValue).StringValueOK()
	return name
}
