package suite

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The statements of the tests that are answered.
var (
	selecting       = regexp.MustCompile("^SELECT (\\S*)\\* FROM (`default`|`_default`|`testAnalytics`|default\\._default\\._default) WHERE (.+) LIMIT (\\d+)$")
	creatingIndex   = regexp.MustCompile("^CREATE PRIMARY INDEX ON (`default`|`default`\\.`_default`\\.`_default`)$")
	listingIndexes  = regexp.MustCompile("^SELECT `idx`\\.\\* FROM system:indexes AS idx WHERE ")
	inserting       = regexp.MustCompile("^INSERT INTO `default` \\(KEY, VALUE\\) VALUES \\(\"([^\"]+)\", (.+)\\)$")
	creatingDataset = regexp.MustCompile("^(?:CREATE DATASET IF NOT EXISTS (`testAnalytics`) ON `default`|ALTER COLLECTION (default\\._default\\._default) ENABLE ANALYTICS)$")
	connectingLink  = regexp.MustCompile("^CONNECT LINK Local$")
)

// matches returns what reports whether the statement of a request is a certain one.
func matches(statement *regexp.Regexp) func(*couchbasetest.HTTPRequest) bool {
	return func(r *couchbasetest.HTTPRequest) bool { return statement.MatchString(r.Statement) }
}

// selectFrom answers with the documents for which all conditions hold. Each condition is a field that equals a parameter.
func (a *answers) selectFrom(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
	parts := selecting.FindStringSubmatch(r.Statement)
	prefix, keyspace, conditions := parts[1], parts[2], strings.Split(parts[3], " AND ")
	if p := a.unreadable(r.Service, keyspace); p != nil {
		return failure(*p)
	}
	limit, _ := strconv.Atoi(parts[4])
	var answer couchbasetest.HTTPAnswer
	for _, d := range a.documents() {
		if len(answer.Rows) == limit || !d.satisfies(conditions, r) {
			continue
		}
		if prefix != "" {
			answer.Rows = append(answer.Rows, d.text)
		} else {
			answer.Rows = append(answer.Rows, map[string]any{keyspace[strings.LastIndex(keyspace, ".")+1:]: d.text})
		}
	}
	return answer
}

// unreadable returns why a service cannot read a keyspace, nil if it can.
func (a *answers) unreadable(service couchbasetest.Service, keyspace string) *couchbasetest.HTTPProblem {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case service == couchbasetest.Query && !a.primary:
		return &couchbasetest.HTTPProblem{Code: 4000, Message: "No index available on keyspace " + keyspace + " that matches your query."}
	case service == couchbasetest.Analytics && !a.datasets[keyspace]:
		return &couchbasetest.HTTPProblem{Code: 24045, Message: "Cannot find analytics collection " + keyspace}
	}
	return nil
}

// satisfies reports whether all conditions hold for a document. A condition such as "a=?" or "a=$b" compares with a parameter of the
// request; without the parameter it does not hold.
func (d *document) satisfies(conditions []string, r *couchbasetest.HTTPRequest) bool {
	var positional []json.RawMessage
	_ = json.Unmarshal(r.Fields["args"], &positional) // a request may have none
	for _, condition := range conditions {
		field, parameter, _ := strings.Cut(condition, "=")
		value := r.Fields[parameter]
		if parameter == "?" && len(positional) > 0 {
			value, positional = positional[0], positional[1:]
		}
		if value == nil || !d.has(field, value) {
			return false
		}
	}
	return true
}

func (a *answers) createIndex(*couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.primary {
		return failure(couchbasetest.HTTPProblem{Code: 4300, Message: "The index #primary already exists."})
	}
	a.primary = true
	return couchbasetest.HTTPAnswer{}
}

// listIndexes answers with the indexes of a bucket: the primary one of its default collection, if it was created.
func (a *answers) listIndexes(r *couchbasetest.HTTPRequest) (answer couchbasetest.HTTPAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	elsewhere := r.Fields["$collectionName"] != nil && r.Field("$collectionName") != "_default"
	if a.primary && r.Field("$bucketName") == bucketName && !elsewhere {
		answer.Rows = append(answer.Rows, map[string]any{
			"name": "#primary", "is_primary": true, "state": "online", "using": "gsi", "keyspace_id": bucketName, "namespace_id": "default",
			"index_key": []any{},
		})
	}
	return answer
}

// insert stores a document.
func (a *answers) insert(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
	parts := inserting.FindStringSubmatch(r.Statement)
	key, value := parts[1], json.RawMessage(parts[2])
	_, err := a.writer.Insert(key, value, nil)
	switch {
	case errors.Is(err, gocb.ErrDocumentExists):
		return failure(couchbasetest.HTTPProblem{
			Code: 12009, Message: "DML Error, possible causes include concurrent modification. Failed to perform INSERT on key " + key,
			Reason: map[string]any{"code": 17012, "message": "Duplicate Key: " + key},
		})
	case err != nil:
		return failure(couchbasetest.HTTPProblem{Code: 5000, Message: err.Error()})
	}
	return couchbasetest.HTTPAnswer{Mutations: 1}
}

// createDataset gives the default collection a name in the analytics service.
func (a *answers) createDataset(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range creatingDataset.FindStringSubmatch(r.Statement)[1:] {
		a.datasets[name] = true
	}
	return couchbasetest.HTTPAnswer{}
}
