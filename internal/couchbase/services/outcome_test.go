package services

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// An answer that refuses a statement says whether it can have changed something: not if it was refused before the execution began.
func TestWhetherTheOutcomeOfARefusedRequestIsKnown(t *testing.T) {
	entry := func(code int) string {
		return fmt.Sprintf(`{"errors":[{"code":%d,"msg":"m"}],"status":"errors"}`, code)
	}
	for _, c := range []struct {
		name    string
		service clustermap.Service
		status  int
		body    string
		known   bool // of a request that is not idempotent
	}{
		{"query 1000: the service", clustermap.Query, 500, entry(1000), true},
		{"query 2120: administration", clustermap.Query, 500, entry(2120), true},
		{"query 3000: parsing", clustermap.Query, 400, entry(3000), true},
		{"query 4100: planning", clustermap.Query, 400, entry(4100), true},
		{"query 5000: execution", clustermap.Query, 500, entry(5000), false},
		{"query 10000: authorization", clustermap.Query, 401, entry(10000), true},
		{"query 12009: a change of documents", clustermap.Query, 409, entry(12009), false},
		{"query 13014: authorization of the data", clustermap.Query, 401, entry(13014), true},
		{"query, HTTP 503 without an entry: a proxy may have lost the answer", clustermap.Query, 503, "", false},
		{"query, HTTP 401 without an entry", clustermap.Query, 401, "", true},
		{"management 503", clustermap.Management, 503, "", false},
		{"management 500", clustermap.Management, 500, "", false},
		{"management 400", clustermap.Management, 400, "no", true},
	} {
		for _, idempotency := range []retry.Idempotency{retry.ReadOnly, retry.NotIdempotent} {
			t.Run(c.name+", "+idempotency.String(), func(t *testing.T) {
				bubble(t, func(t *testing.T, cluster *fakeCluster) {
					node := answers(status(c.status, c.body))
					cluster.serve(t, "a:1", node)
					client, _ := cluster.client(t)
					defer client.Close()
					var err error
					if c.service == clustermap.Management {
						_, err = client.Do(t.Context(), &Request{Call: Call{Timeout: time.Second}, Service: c.service, Method: http.MethodPost, Path: "/x", Idempotency: idempotency})
					} else {
						_, err = stream(client, c.service, idempotency)
					}
					var e *Error
					if !errors.As(err, &e) || e.OutcomeKnown != (c.known || idempotency == retry.ReadOnly) || node.count() != 1 {
						t.Errorf("%+v, %d requests", err, node.count())
					}
				})
			})
		}
	}
}

func TestAPreparedStatementIsFoundByItsQueryContext(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.can = true
		node := newPreparingNode(true, map[string]string{})
		cluster.serve(t, "a:1", node)
		c, _ := cluster.client(t)
		defer c.Close()
		for _, context := range []string{"a", "b", "a", "b", ""} {
			runQuery(t, c, Query{Statement: "s", Context: context})
		}
		var prepared []bool
		for _, body := range node.bodies() {
			prepared = append(prepared, strings.Contains(body, "PREPARE"))
		}
		if got := fmt.Sprint(prepared); got != "[true true false false true]" {
			t.Errorf("prepared %v", got)
		}
	})
}

func TestAStatementIsForgottenOnlyIfItIsTheOneThatWasRefused(t *testing.T) {
	var s statements
	key := statementKey{statement: "s"}
	old, renewed := &prepared{key: key, name: "old"}, &prepared{key: key, name: "new"}
	s.put(old)
	s.put(renewed) // by another operation, meanwhile
	s.remove(old)
	if s.get(key) != renewed {
		t.Error("the new one was forgotten")
	}
	s.remove(renewed)
	if s.get(key) != nil || s.size != 0 {
		t.Errorf("it was not forgotten, size %d", s.size)
	}
}
