package query_test

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// memory runs commands on documents in memory: it is what the test server's commands are made of, without the server.
type memory struct{}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var integers = regexp.MustCompile(`\{"\$numberInt":"(-?\d+)"\}`)

// short writes 32-bit integers as plain numbers.
func short(extended string) string { return integers.ReplaceAllString(extended, "$1") }

func (memory) run(t testing.TB, docs []bson.Raw, command bson.Raw) string {
	t.Helper()
	first, err := command.IndexErr(0)
	if err != nil {
		t.Fatal(err)
	}
	switch first.Key() {
	case "find":
		return find(docs, command)
	case "update":
		return update(docs, query.Lookup(query.Lookup(command, "updates").Data, "0").Data)
	case "findAndModify":
		return findAndModify(docs, command)
	}
	t.Fatalf("unknown command %s", first.Key())
	return ""
}

func refusal(prefix string, err error) string {
	var refused *query.Error
	if !errors.As(err, &refused) {
		return "not an Error: " + err.Error()
	}
	return fmt.Sprintf("%d: %s%s", refused.Code, prefix, refused.Message)
}

const (
	findPrefix   = "Executor error during find command: <namespace> :: caused by :: "
	updatePrefix = "Plan executor error during update :: caused by :: "
	modifyPrefix = "Plan executor error during findAndModify :: caused by :: "
)

func document(command bson.Raw, name string) []byte {
	if v := query.Lookup(command, name); v.IsDocument() {
		return v.Data
	}
	return []byte{5, 0, 0, 0, 0}
}

// find executes a find: filter, sort, projection.
func find(docs []bson.Raw, command bson.Raw) string {
	var f query.Filter
	if err := f.ParseWith(document(command, "filter"), hooks); err != nil {
		return refusal("", err)
	}
	sort, err := query.ParseSort(document(command, "sort"))
	if err != nil {
		return refusal("", err)
	}
	projection, err := query.ParseProjection(document(command, "projection"), &f, hooks)
	if err != nil {
		return refusal("", err)
	}
	var found [][]byte
	var m query.Matching
	for _, doc := range docs {
		ok, err := f.MatchWith(doc, &m)
		if err == nil && ok {
			err = sort.Check(doc)
			found = append(found, doc)
		}
		if err != nil {
			return refusal(findPrefix, err)
		}
	}
	if sort != nil {
		sort.Documents(found)
	}
	return projected(found, projection)
}

func projected(found [][]byte, projection *query.Projection) string {
	var out []bson.Raw
	for _, doc := range found {
		if projection != nil {
			next, err := projection.AppendWith(nil, doc, nil)
			if err != nil {
				return refusal(findPrefix, err)
			}
			doc = next
		}
		out = append(out, doc)
	}
	return join(out)
}

// update executes one statement of an update.
func update(docs []bson.Raw, statement bson.Raw) string {
	var f query.Filter
	if err := f.ParseWith(document(statement, "q"), hooks); err != nil {
		return refusal("", err)
	}
	u, err := query.ParseUpdate(query.Lookup(statement, "u"), query.Lookup(statement, "arrayFilters"), hooks)
	if err != nil {
		return refusal("", err)
	}
	if u.IsReplacement() && query.Lookup(statement, "multi").True() {
		return "9: multi update is not supported for replacement-style update"
	}
	if query.Lookup(statement, "upsert").True() {
		if err := f.CheckUpsert(); err != nil {
			return refusal("", err)
		}
	}
	n, modified := int64(0), int64(0)
	m := query.Matching{}
	docs = append([]bson.Raw(nil), docs...)
	for i, doc := range docs {
		ok, err := f.MatchWith(doc, &m)
		var after []byte
		if err == nil && ok {
			after, err = u.Apply(doc, query.Env{Now: now, Match: &m})
		}
		if err != nil {
			return refusal(updatePrefix, err)
		}
		if !ok {
			continue
		}
		n++
		if &after[0] != &doc[0] {
			modified++
		}
		docs[i] = after
		if !query.Lookup(statement, "multi").True() {
			break
		}
	}
	if n > 0 || !query.Lookup(statement, "upsert").True() {
		return outcome(n, modified, "", docs)
	}
	doc, err := u.Upsert(&f, query.Env{Now: now, Match: &m})
	if err != nil {
		return refusal(updatePrefix, err)
	}
	return outcome(1, 0, short(bson.Raw(doc).Lookup("_id").String()), append(docs, doc))
}

// findAndModify executes a findAndModify that updates.
func findAndModify(docs []bson.Raw, command bson.Raw) string {
	var f query.Filter
	if err := f.ParseWith(document(command, "query"), hooks); err != nil {
		return refusal("", err)
	}
	u, err := query.ParseUpdate(query.Lookup(command, "update"), query.Lookup(command, "arrayFilters"), hooks)
	if err != nil {
		return refusal("", err)
	}
	sort, err := query.ParseSort(document(command, "sort"))
	if err != nil {
		return refusal("", err)
	}
	projection, err := query.ParseProjection(document(command, "fields"), &f, hooks)
	if err != nil {
		return refusal("", err)
	}
	if projection.Positional() && query.Lookup(command, "new").True() {
		return "2: cannot use a positional projection and return the new document"
	}
	var m query.Matching
	docs = append([]bson.Raw(nil), docs...)
	best := -1
	for i, doc := range docs {
		if ok, _ := f.MatchWith(doc, &m); ok && (best < 0 || sort.Compare(doc, docs[best]) < 0) {
			best = i
		}
	}
	if best < 0 {
		return "null => " + join(docs)
	}
	if _, err := f.MatchWith(docs[best], &m); err != nil {
		return refusal(modifyPrefix, err)
	}
	before := docs[best]
	after, err := u.Apply(before, query.Env{Now: now, Match: &m})
	if err != nil {
		return refusal(modifyPrefix, err)
	}
	docs[best] = after
	value := []byte(before)
	if query.Lookup(command, "new").True() {
		value = after
	}
	if projection != nil {
		if value, err = projection.AppendWith(nil, value, nil); err != nil {
			return refusal(modifyPrefix, err)
		}
	}
	return short(bson.Raw(value).String()) + " => " + join(docs)
}
