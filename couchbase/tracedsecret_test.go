package couchbase_test

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/search"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/telemetry"
)

// everything returns the text of all that a tracer was told, with that of all errors in it.
func (l *toldLines) everything() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, what := range append(l.all, l.pools) {
		fmt.Fprintf(&b, "%+v\n", what)
		switch what := what.(type) {
		case telemetry.Result:
			b.WriteString(errorTexts(what.Err))
		case telemetry.Decision:
			b.WriteString(errorTexts(what.Err))
		case error:
			b.WriteString(errorTexts(what))
		case []telemetry.PoolEvent:
			for _, e := range what {
				b.WriteString(errorTexts(e.Err))
			}
		}
	}
	return b.String()
}

// errorTexts returns the texts of an error and of all errors in it.
func errorTexts(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%v %+v %#v\n", err, err, err)
	switch wrapped := err.(type) { //nolint:errorlint // it walks the tree itself
	case interface{ Unwrap() []error }:
		for _, err := range wrapped.Unwrap() {
			text += errorTexts(err)
		}
	case interface{ Unwrap() error }:
		text += errorTexts(wrapped.Unwrap())
	}
	return text
}

// secretValue is a value whose encoding fails with a text that shows it.
type secretValue struct{}

func (secretValue) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot encode the-secret") }

// No secret reaches a tracer: not the credential, not a document, not a statement without parameters, and not what a service says about one.
func TestATracerIsToldNoSecret(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		told := &toldLines{t: t}
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		refused := couchbase.PasswordAuthenticator{Username: server.Username(), Password: "another-the-secret"}
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", "the-secret", nil))
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
		must[*couchbase.GetResult](t)(c.Get("a", nil))
		for _, value := range []any{secretValue{}, json.Number("the-secret"), "the-secret"} {
			_, _ = c.Insert("a", value, nil)
		}
		_, _ = c.MutateIn("a", []couchbase.MutateInSpec{couchbase.UpsertSpec("the.path", "the-secret", nil)}, nil)
		problem := couchbasetest.HTTPProblem{Code: 3000, Message: "syntax error near the-secret"}
		for _, service := range []couchbasetest.Service{couchbasetest.Query, couchbasetest.Analytics, couchbasetest.Search} {
			answering(server, service, couchbasetest.HTTPAnswer{Status: 400, Errors: []couchbasetest.HTTPProblem{problem}})
		}
		_, _ = client.Query("SELECT the-secret", nil)
		_, _ = client.Query("SELECT $1", &couchbase.QueryOptions{PositionalParameters: []any{"the-secret"}})
		_, _ = client.AnalyticsQuery("SELECT the-secret", nil)
		_, _ = client.SearchQuery("index", search.NewMatchQuery("the-secret"), nil)
		server.HTTP().Inject(on(couchbasetest.Management), 0, 1, couchbasetest.HTTPFault{Status: 400, Body: "the-secret"})
		_, _ = client.Buckets().GetAllBuckets(nil)
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 5000, Message: "queryport.indexNotFound the-secret"}}})
		_, _ = client.Query("SELECT the-secret", &couchbase.QueryOptions{Adhoc: true, Timeout: 100 * time.Millisecond})
		if err := client.SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: refused}); err != nil {
			t.Fatal(err)
		}
		restart(server, 0)
		_, _ = c.Get("a", nil)
		client.Close(nil)
		text := told.everything()
		if strings.Count(text, "parsing failure") == 0 || strings.Count(text, "the value cannot be encoded") == 0 {
			t.Errorf("the errors are not told: %s", text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "the-secret") {
				t.Errorf("a tracer is told %s", line)
			}
		}
	}, couchbasetest.Credentials("the-user", "the-secret"))
}

func TestATracerIsToldNoToken(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		told := &toldLines{t: t}
		trusted := must[*tls.Config](t)(server.ClientTLS())
		client, err := couchbase.Open(server.ConnectionString(), couchbase.Config{Dial: server.Dialer().DialContext, Tracer: told.tracer()}, couchbase.ClusterOptions{
			Authenticator: bearer("the-secret"), SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: trusted.RootCAs},
		})
		if err != nil {
			t.Fatal(err)
		}
		use(t, client)
		expire(t, server, "other")
		change(t, client, bearer("wrong-the-secret"))
		refused(t, client)
		client.Close(nil)
		if text := told.everything(); strings.Contains(text, "the-secret") || !strings.Contains(text, "authentication failure") {
			t.Errorf("%s", text)
		}
	}, couchbasetest.TLS(), couchbasetest.Nodes(2), couchbasetest.Tokens("the-secret"))
}
