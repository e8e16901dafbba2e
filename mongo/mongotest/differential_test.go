package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// reference returns a database of the real server that HOLDFAST_MONGODB_URI names.
func reference(t *testing.T) *mongo.Database {
	t.Helper()
	uri := spectest.Server(t)
	client := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(uri)))
	db := client.Database(fmt.Sprintf("mongotest_%d_%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "_")))
	t.Cleanup(func() {
		_ = db.Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	return db
}

// values are what the random documents and filters are made of.
var values = []string{
	`1`, `2`, `{"$numberLong": "2"}`, `2.5`, `-1`, `0`, `{"$numberDouble": "NaN"}`, `{"$numberDecimal": "2.0"}`, `"a"`, `"b"`, `""`,
	`null`, `true`, `false`, `[]`, `[1]`, `[1, 2, "a"]`, `[[1, 2], 3]`, `{}`, `{"x": 1}`, `{"x": [1, 2]}`, `{"x": {"y": 2}}`,
	`[{"x": 1}, {"x": 2}]`, `[{"x": 1, "y": 1}, {"y": 2}]`, `[{"x": [1, 5]}, 7]`, `{"$date": {"$numberLong": "5"}}`,
	`{"$oid": "000000000000000000000001"}`, `{"$minKey": 1}`, `{"$maxKey": 1}`, `{"$binary": {"base64": "AQ==", "subType": "00"}}`,
	`{"$timestamp": {"t": 1, "i": 2}}`, `[null]`, `[[]]`, `{"0": 1}`, `[{"0": 2}]`,
}

var fields = []string{"a", "b", "a.x", "a.0", "a.x.y", "a.0.x", "b.1", "a.x.0", "c"}

type maker struct{ *rand.Rand }

func (m maker) one(list []string) string { return list[m.IntN(len(list))] }

func (m maker) filter(depth int) string {
	field := m.one(fields)
	switch n := m.IntN(12); {
	case n == 0 && depth > 0:
		return fmt.Sprintf(`{"%s": [%s, %s]}`, m.one([]string{"$and", "$or", "$nor"}), m.filter(depth-1), m.filter(depth-1))
	case n < 3:
		return fmt.Sprintf(`{"%s": %s}`, field, m.one(values))
	}
	return fmt.Sprintf(`{"%s": %s}`, field, m.expression(depth))
}

func (m maker) expression(depth int) string {
	switch n := m.IntN(20); {
	case n < 8:
		return fmt.Sprintf(`{"%s": %s}`, m.one([]string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}), m.one(values))
	case n < 10:
		return fmt.Sprintf(`{"%s": [%s, %s]}`, m.one([]string{"$in", "$nin", "$all"}), m.one(values), m.one(values))
	case n == 10:
		return fmt.Sprintf(`{"$exists": %s}`, m.one([]string{"true", "false", "1", "0", "null"}))
	case n == 11:
		return fmt.Sprintf(`{"$type": %s}`, m.one([]string{`"int"`, `"array"`, `"number"`, `2`, `["string", "object"]`, `"null"`}))
	case n == 12:
		return fmt.Sprintf(`{"$size": %d}`, m.IntN(4))
	case n == 13:
		return fmt.Sprintf(`{"$mod": [%s, %d]}`, m.one([]string{"2", "3", "2.5", "-2"}), m.IntN(3)-1)
	case n == 14:
		return fmt.Sprintf(`{"$regex": "%s", "$options": "%s"}`, m.one([]string{"^a", "A", "b$", "."}), m.one([]string{"", "i"}))
	case n < 17 && depth > 0:
		return fmt.Sprintf(`{"$not": %s}`, m.expression(depth-1))
	case n < 19 && depth > 0:
		return fmt.Sprintf(`{"$elemMatch": %s}`, m.expression(depth-1))
	case depth > 0:
		return fmt.Sprintf(`{"$elemMatch": {"x": %s}}`, m.expression(depth-1))
	}
	return fmt.Sprintf(`{"$gt": %s, "$lt": %s}`, m.one(values), m.one(values))
}

func (m maker) document(id int) string {
	return fmt.Sprintf(`{"_id": %d, "a": %s, "b": %s}`, id, m.one(values), m.one(values))
}

func (m maker) update() string {
	field, other := m.one(fields), m.one(fields)
	for other == field {
		other = m.one(fields)
	}
	v, w := m.one(values), m.one(values)
	switch m.IntN(16) {
	case 0:
		return fmt.Sprintf(`{"$set": {"%s": %s, "%s": %s}}`, field, v, other, w)
	case 1:
		return fmt.Sprintf(`{"$unset": {"%s": ""}, "$set": {"%s": %s}}`, field, other, v)
	case 2:
		return fmt.Sprintf(`{"$inc": {"%s": %s}}`, field, m.one([]string{"1", "2147483647", "0.5", `{"$numberLong": "9223372036854775807"}`, `"x"`}))
	case 3:
		return fmt.Sprintf(`{"$mul": {"%s": %s}}`, field, m.one([]string{"2", "2147483647", "0.5", `{"$numberLong": "4611686018427387904"}`}))
	case 4:
		return fmt.Sprintf(`{"%s": {"%s": %s}}`, m.one([]string{"$min", "$max"}), field, v)
	case 5:
		return fmt.Sprintf(`{"$push": {"%s": %s}}`, field, v)
	case 6:
		return fmt.Sprintf(`{"$push": {"%s": {"$each": [%s, %s], "$slice": %d, "$position": %d}}}`, field, v, w, m.IntN(7)-3, m.IntN(7)-3)
	case 7:
		return fmt.Sprintf(`{"$push": {"%s": {"$each": [%s], "$sort": %s}}}`, field, v, m.one([]string{"1", "-1", `{"x": 1}`}))
	case 8:
		return fmt.Sprintf(`{"$addToSet": {"%s": %s}}`, field, v)
	case 9:
		return fmt.Sprintf(`{"$addToSet": {"%s": {"$each": [%s, %s]}}}`, field, v, w)
	case 10:
		return fmt.Sprintf(`{"$pull": {"%s": %s}}`, field, v)
	case 11:
		return fmt.Sprintf(`{"$pull": {"%s": %s}}`, field, m.expression(1))
	case 12:
		return fmt.Sprintf(`{"$pullAll": {"%s": [%s, %s]}}`, field, v, w)
	case 13:
		return fmt.Sprintf(`{"$pop": {"%s": %s}}`, field, m.one([]string{"1", "-1", "2"}))
	case 14:
		return fmt.Sprintf(`{"$rename": {"%s": "%s"}}`, field, other)
	}
	return fmt.Sprintf(`{"$setOnInsert": {"%s": %s}, "$set": {"%s": %s}}`, field, v, other, w)
}

// codeOf returns an error's server code, 0 for none.
func codeOf(err error) int {
	var server mongo.ServerError
	if err == nil || !errors.As(err, &server) {
		return 0
	}
	if codes := server.ErrorCodes(); len(codes) > 0 {
		return codes[0]
	}
	return -1
}

// all returns what a find gives, one document a line, and its error's code.
func all(t *testing.T, c *mongo.Collection, filter bson.D, opts ...options.Lister[options.FindOptions]) (string, error) {
	t.Helper()
	cursor, err := c.Find(t.Context(), filter, opts...)
	if err != nil {
		return "", err
	}
	var docs []bson.Raw
	if err := cursor.All(t.Context(), &docs); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, doc := range docs {
		b.WriteString(doc.String() + "\n")
	}
	return b.String(), nil
}

func TestFiltersAgainstARealServer(t *testing.T) {
	theirs := reference(t).Collection("c")
	ours := connect(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.JournalLimit(0))).Database("d").Collection("c")
	m := maker{rand.New(rand.NewPCG(1, 2))}
	var docs []any
	for i := range 150 {
		docs = append(docs, j("%s", m.document(i)))
	}
	must[*mongo.InsertManyResult](t)(theirs.InsertMany(t.Context(), docs))
	must[*mongo.InsertManyResult](t)(ours.InsertMany(t.Context(), docs))
	for range 3000 {
		filter := m.filter(2)
		want, wantErr := all(t, theirs, j("%s", filter))
		got, gotErr := all(t, ours, j("%s", filter))
		if codeOf(gotErr) != codeOf(wantErr) || got != want {
			t.Errorf("filter %s:\n%v\ngot  %v\nwant %v", filter, firstDifference(got, want), gotErr, wantErr)
		}
	}
}

// firstDifference returns the first line that only one of two texts has.
func firstDifference(got, want string) string {
	have := make(map[string]bool)
	for line := range strings.Lines(got) {
		have[line] = true
	}
	for line := range strings.Lines(want) {
		if !have[line] {
			return "missing: " + line
		}
		delete(have, line)
	}
	for line := range have {
		return "too much: " + line
	}
	return "the order differs"
}

func TestUpdatesAgainstARealServer(t *testing.T) {
	theirs := reference(t).Collection("c")
	ours := connect(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.JournalLimit(0))).Database("d").Collection("c")
	m := maker{rand.New(rand.NewPCG(3, 4))}
	for i := range 4000 {
		doc, update, upsert := m.document(i), m.update(), m.IntN(10) == 0
		filter := fmt.Sprintf(`{"_id": %d}`, i)
		if upsert {
			filter = fmt.Sprintf(`{"_id": %d, "%s": %s}`, i, m.one(fields), m.one(values))
		}
		want := updated(t, theirs, doc, filter, update, upsert)
		got := updated(t, ours, doc, filter, update, upsert)
		declared := got == "error 238" // refused by name
		if got != want && !declared {
			t.Errorf("document %s\nfilter %s update %s upsert %t\ngot  %s\nwant %s", doc, filter, update, upsert, got, want)
		}
	}
}

// updated returns what an update makes of a document, or of nothing with upsert.
func updated(t *testing.T, c *mongo.Collection, doc, filter, update string, upsert bool) string {
	t.Helper()
	if !upsert {
		must[*mongo.InsertOneResult](t)(c.InsertOne(t.Context(), j("%s", doc)))
	}
	result, err := c.UpdateOne(t.Context(), j("%s", filter), j("%s", update), options.UpdateOne().SetUpsert(upsert))
	if err != nil {
		return fmt.Sprintf("error %d", codeOf(err))
	}
	id := filter[:strings.IndexAny(filter, ",}")] + "}"
	after, _ := all(t, c, j("%s", id))
	return fmt.Sprintf("%d %d %d %s", result.MatchedCount, result.ModifiedCount, result.UpsertedCount, after)
}
