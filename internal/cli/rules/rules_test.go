package rules

import (
	"strings"
	"testing"
)

// Each rule has a name of its own, a sentence and a source, and some verdict names it.
func TestEveryRuleIsARow(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range append(Of(MongoDB), Of(Couchbase)...) {
		if seen[r.ID] || r.Source == "" || !strings.HasSuffix(r.Sentence, ".") {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
	named := map[string]bool{}
	for _, id := range verdictsOfAll(t) {
		named[id] = true
		if !seen[id] {
			t.Fatalf("a verdict names the rule %s, which is not in the table", id)
		}
	}
	for id := range seen {
		if !named[id] {
			t.Errorf("no verdict names the rule %s", id)
		}
	}
}

// verdictsOfAll returns the names of the rules by which cases of all kinds are judged.
func verdictsOfAll(t *testing.T) []string {
	var ids []string
	for _, o := range mongoOperations {
		for _, text := range mongoFailures() {
			for _, options := range []MongoCase{
				{}, {Off: true}, {InTransaction: true}, {Deadline: true}, {Unacknowledged: true}, {InRequest: true}, {Server: Standalone},
			} {
				if strings.HasSuffix(text, ":") {
					text += "91"
				}
				f, err := ParseMongoFailure(text)
				if err != nil {
					t.Fatal(err)
				}
				if f.has(labelOverloaded) {
					f.Labels = append(f.Labels, labelRetryable)
				}
				if options.Operation, options.Failure = o, f; options.Server == "" {
					options.Server = ReplicaSet
				}
				ids = append(ids, options.Verdict().Rule.ID)
			}
		}
	}
	for _, o := range couchbaseOperations {
		for _, r := range CouchbaseReasons(o) {
			ids = append(ids, (&CouchbaseCase{o, r, true}).Verdict().Rule.ID, (&CouchbaseCase{o, r, false}).Verdict().Rule.ID)
		}
		ids = append(ids, (&CouchbaseCase{Operation: o}).Verdict().Rule.ID)
	}
	return ids
}

func TestTheNearestName(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"insertOn", "insertOne"}, {"FIND", "find"}, {"findoneandupdte", "findOneAndUpdate"}, {"", "find"},
	} {
		_, err := MongoOperationNamed(c.name)
		if c.name != "FIND" && (err == nil || !strings.HasSuffix(err.Error(), `"`+c.want+`"`)) {
			t.Errorf("%q: %v, want %q", c.name, err, c.want)
		}
	}
}
