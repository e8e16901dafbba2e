package collation

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

var record = flag.Bool("record", false, "write what the real server answers to "+recordFile)

const recordFile = "testdata/orders.txt"

// words are compared with each other.
var words = strings.Fields(`a A á Á ä Ä b B z Z æ ae ß ss ø å aa item2 item10 item-3 item3 co-op coop Coop résumé Resume resume côte coté cote
	côté ping PING Ping 10 9 -1 é é ñ n ö o ü u 日 本 я Я # _ cz ch d ll lz . ... a.b ab A.B ＡＢ ﬁ fi İ i I ı`)

// collations are what the words are compared by, as extended JSON.
var collations = []string{
	`{"locale": "en"}`, `{"locale": "en", "strength": 1}`, `{"locale": "en", "strength": 2}`, `{"locale": "en", "strength": 3}`,
	`{"locale": "en", "strength": 4}`, `{"locale": "en", "strength": 5}`, `{"locale": "en", "numericOrdering": true}`,
	`{"locale": "en", "strength": 1, "numericOrdering": true}`, `{"locale": "en", "alternate": "shifted"}`,
	`{"locale": "en", "alternate": "shifted", "strength": 1}`, `{"locale": "en", "alternate": "shifted", "strength": 4}`,
	`{"locale": "en", "backwards": true}`, `{"locale": "en_US", "strength": 2}`, `{"locale": "fr"}`,
	`{"locale": "fr_CA"}`, `{"locale": "fr_CA", "backwards": false}`, `{"locale": "fr", "backwards": true}`,
	`{"locale": "en", "normalization": true}`,
	`{"locale": "en", "strength": 1, "caseLevel": true}`, `{"locale": "en", "strength": 2, "caseLevel": true}`,
	`{"locale": "en", "caseLevel": true}`, `{"locale": "en", "strength": 1, "caseLevel": true, "caseFirst": "upper"}`,
	`{"locale": "en", "strength": 1, "caseLevel": true, "caseFirst": "lower"}`, `{"locale": "en", "caseFirst": "upper"}`,
	`{"locale": "en", "caseFirst": "lower"}`, `{"locale": "en", "caseLevel": true, "caseFirst": "upper"}`,
	`{"locale": "en", "strength": 4, "caseFirst": "upper"}`, `{"locale": "fr_CA", "caseFirst": "upper"}`,
	`{"locale": "en", "strength": 1, "caseLevel": true, "alternate": "shifted"}`,

	`{"strength": 1}`, `{"locale": 1}`, `{"locale": "en", "strength": 0}`, `{"locale": "en", "strength": 6}`,
	`{"locale": "en", "strength": "1"}`, `{"locale": "en", "strength": 1.5}`, `{"locale": "en", "caseLevel": 1}`,
	`{"locale": "en", "caseFirst": "middle"}`, `{"locale": "en", "caseFirst": 1}`, `{"locale": "en", "alternate": "some"}`,
	`{"locale": "en", "maxVariable": "some"}`, `{"locale": "en", "frob": 1}`, `{"locale": "no such"}`, `{"locale": "xx"}`,
	`{"locale": ""}`, `{"locale": "simple", "strength": 1}`, `{"locale": "en", "numericOrdering": "yes"}`,
}

// ordered returns the words in their order, equal ones together, or the error.
func ordered(t *testing.T, spec string) string {
	t.Helper()
	c, err := Parse(parse(t, spec))
	var refused *mongoerr.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("%d: %s", refused.Code, refused.Message)
	case err != nil:
		t.Fatal(err)
	case c == nil:
		return "simple"
	}
	groups := make(map[string][]string)
	for _, w := range words {
		doc, _ := bson.Marshal(bson.M{"w": w})
		key := bson.Raw(c.Document(doc)).Lookup("w").StringValue()
		groups[key] = append(groups[key], w)
	}
	var list []string
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, grouped(groups[key]))
	}
	return strings.Join(list, " < ")
}

// grouped writes equal words in the order in which they are listed.
func grouped(equal []string) string {
	slices.SortFunc(equal, func(a, b string) int { return cmp.Compare(slices.Index(words, a), slices.Index(words, b)) })
	return strings.Join(equal, " = ")
}

func parse(t *testing.T, text string) bson.Raw {
	t.Helper()
	var doc bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &doc); err != nil {
		t.Fatal(err)
	}
	b, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOrdersAreTheRealServers holds the collations against recorded orders of a real server.
func TestOrdersAreTheRealServers(t *testing.T) {
	recorded := make(map[string]string)
	text, err := os.ReadFile(recordFile)
	if err != nil && !*record {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		key, answer, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		recorded[key] = answer
	}
	for _, spec := range collations {
		got, want := ordered(t, spec), recorded[spec]
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", spec, got, want)
		}
	}
}

// TestTheRealServerOrdersSo asks a real server again.
func TestTheRealServerOrdersSo(t *testing.T) {
	uri := spectest.Server(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database(fmt.Sprint("collation_", os.Getpid()))
	t.Cleanup(func() {
		_ = db.Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	var docs []any
	for _, w := range words {
		docs = append(docs, bson.M{"w": w})
	}
	if _, err := db.Collection("c").InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, spec := range collations {
		fmt.Fprintf(&text, "%s\t%s\n", spec, asked(t, db, spec))
	}
	if *record {
		if err := os.WriteFile(recordFile, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if recorded, err := os.ReadFile(recordFile); err != nil || string(recorded) != text.String() {
		t.Errorf("the real server answers otherwise than recorded (%v):\n%s", err, text.String())
	}
}

func asked(t *testing.T, db *mongo.Database, spec string) string {
	t.Helper()
	pipeline := bson.A{
		bson.M{"$group": bson.M{"_id": "$w", "all": bson.M{"$push": "$w"}}}, bson.M{"$sort": bson.M{"_id": 1}},
	}
	cursor, err := db.RunCommandCursor(t.Context(), bson.D{
		{Key: "aggregate", Value: "c"},
		{Key: "pipeline", Value: pipeline},
		{Key: "cursor", Value: bson.M{"batchSize": 1000}},
		{Key: "collation", Value: parse(t, spec)},
	})
	var refused mongo.CommandError
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("%d: %s", refused.Code, strings.ReplaceAll(refused.Message, "aggregate.collation", "collation"))
	case err != nil:
		t.Fatal(err)
	}
	var rows []struct{ All []string }
	if err := cursor.All(t.Context(), &rows); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(spec, "simple") {
		return "simple"
	}
	var list []string
	for _, r := range rows {
		list = append(list, grouped(r.All))
	}
	return strings.Join(list, " < ")
}

func TestShownIsWhole(t *testing.T) {
	c, err := Parse(parse(t, `{"locale": "fr_CA", "numericOrdering": true}`))
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, `{"locale": "fr_CA", "caseLevel": false, "caseFirst": "off", "strength": 3, "numericOrdering": true,
		"alternate": "non-ignorable", "maxVariable": "punct", "normalization": false, "backwards": true, "version": "57.1"}`)
	if got := c.Shown(); string(got) != string(want) {
		t.Errorf("got %v, want %v", bson.Raw(got), want)
	}
}
