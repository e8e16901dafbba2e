package suite

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

const bucketName = "default"

// answers answers the statements, searches and views of those tests that ask only for documents that they have stored themselves. Each
// answer is computed from the documents that the cluster has at that moment. Whatever else is asked has no answer.
type answers struct {
	cluster *couchbasetest.Cluster
	writer  *gocb.Collection

	mu sync.Mutex
	// primary is whether the bucket's default collection has a primary index.
	primary bool
	// datasets are the names that the analytics service knows the default collection by.
	datasets map[string]bool
}

// answer makes the services of a cluster answer.
func answer(t *testing.T, c *couchbasetest.Cluster) {
	t.Helper()
	options := gocb.ClusterOptions{Username: c.Username(), Password: c.Password()}
	if certificate := c.CACertificate(); certificate != nil {
		options.SecurityConfig.TLSRootCAs = x509.NewCertPool()
		options.SecurityConfig.TLSRootCAs.AppendCertsFromPEM(certificate)
	}
	client, err := gocb.Connect(c.ConnectionString(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(nil) })
	a := &answers{cluster: c, writer: client.Bucket(bucketName).DefaultCollection(), datasets: make(map[string]bool)}
	for _, one := range []struct {
		service  couchbasetest.Service
		known    func(*couchbasetest.HTTPRequest) bool
		executed func(*couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer
	}{
		{couchbasetest.Query, matches(selecting), a.selectFrom},
		{couchbasetest.Query, matches(creatingIndex), a.createIndex},
		{couchbasetest.Query, matches(listingIndexes), a.listIndexes},
		{couchbasetest.Query, matches(inserting), a.insert},
		{couchbasetest.Analytics, matches(selecting), a.selectFrom},
		{couchbasetest.Analytics, matches(creatingDataset), a.createDataset},
		{couchbasetest.Analytics, matches(connectingLink), nothing},
		{couchbasetest.Search, isTermSearch, a.search},
		{couchbasetest.Views, isView, a.view},
	} {
		c.HTTP().Script(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{one.service}, Func: one.known}, 0,
			couchbasetest.HTTPScript{Func: one.executed})
	}
}

// nothing is the answer to a statement that does nothing and returns nothing.
func nothing(*couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer { return couchbasetest.HTTPAnswer{} }

func failure(p couchbasetest.HTTPProblem) couchbasetest.HTTPAnswer {
	return couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{p}}
}

// document is one that a test has stored.
type document struct {
	id     string
	text   json.RawMessage
	fields map[string]any
}

// documents returns the JSON objects of the bucket's default collection, ordered by their ids.
func (a *answers) documents() (list []document) {
	ids := make(map[string]bool)
	for _, e := range a.cluster.Journal() {
		if e.Bucket == bucketName && e.Collection == 0 {
			ids[e.Key] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		stored, ok := a.cluster.Document(bucketName, id)
		if !ok {
			continue
		}
		d := document{id: id, text: stored.Value}
		if json.Unmarshal(stored.Value, &d.fields) == nil {
			list = append(list, d)
		}
	}
	return list
}

// field returns the value at a path such as "geo.lat", nil if there is none.
func (d *document) field(path string) any {
	var value any = d.fields
	for name := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}

// has reports whether a field has a value, which is given as JSON.
func (d *document) has(path string, value json.RawMessage) bool {
	found, err := json.Marshal(d.field(path))
	return err == nil && bytes.Equal(found, value)
}

// isView reports whether a request is for the view of the test: the documents of the service "views", each by its id.
func isView(r *couchbasetest.HTTPRequest) bool {
	return r.Index == "dev_ddoc_test/test" && r.Field("reduce") == "false"
}

func (a *answers) view(*couchbasetest.HTTPRequest) (answer couchbasetest.HTTPAnswer) {
	for _, d := range a.documents() {
		if d.has("service", json.RawMessage(`"views"`)) {
			answer.Rows = append(answer.Rows, map[string]any{"id": d.id, "key": d.id, "value": d.text})
		}
	}
	return answer
}
