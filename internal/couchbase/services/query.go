package services

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// Query is a statement for the query service.
type Query struct {
	Call
	Statement string
	// Context is the query context, in which names without a keyspace are looked up; "" for none.
	Context string
	// Parameters are the other fields of the request's body. They are not changed.
	Parameters map[string]any
	// ReadOnly means that the statement changes nothing, which the service checks.
	ReadOnly bool
	// Adhoc statements are not prepared.
	Adhoc bool
}

// Query runs a statement. Unless it is ad hoc it is prepared, once for all its runs.
func (c *Client) Query(ctx context.Context, q *Query) (*Rows, error) {
	r := &Request{Call: q.Call, Service: clustermap.Query, Method: http.MethodPost, Path: "/query/service"}
	if q.ReadOnly {
		r.Idempotency = retry.ReadOnly
	}
	rows := &Rows{judge: judgeQuery}
	if q.Adhoc {
		r.Body = q.body("statement", q.Statement)
		return c.stream(ctx, r, rows, func(ctx context.Context, n int) *retry.Failure {
			return c.attempt(ctx, n, r, rows.open)
		})
	}
	return c.stream(ctx, r, rows, func(ctx context.Context, n int) *retry.Failure {
		return c.prepareAndRun(ctx, n, q, r, rows)
	})
}

// body returns the Body of a request with further fields, which are pairs of names and values.
func (q *Query) body(pairs ...any) func(time.Duration) ([]byte, error) {
	return func(left time.Duration) ([]byte, error) {
		fields := maps.Clone(q.Parameters)
		if fields == nil {
			fields = make(map[string]any)
		}
		fields["timeout"] = left.String()
		if q.ID != "" {
			fields["client_context_id"] = q.ID
		}
		if q.ReadOnly {
			fields["readonly"] = true
		}
		if q.Context != "" {
			fields["query_context"] = q.Context
		}
		for i := 0; i < len(pairs); i += 2 {
			fields[pairs[i].(string)] = pairs[i+1]
		}
		return json.Marshal(fields)
	}
}

// prepareAndRun makes one attempt of a statement that is prepared.
func (c *Client) prepareAndRun(ctx context.Context, n int, q *Query, r *Request, rows *Rows) *retry.Failure {
	key := statementKey{q.Statement, q.Context}
	rows.known, rows.refused = nil, nil
	p := c.statements.get(key)
	switch {
	case p == nil && c.nodes.Can("n1ql", "enhancedPreparedStatements"):
		return c.prepareAndRunAtOnce(ctx, n, q, r, rows)
	case p == nil:
		var failure *retry.Failure
		if p, failure = c.prepare(ctx, n, q, r); failure != nil {
			return failure
		}
		c.statements.put(p)
	}
	rows.refused = func(f *retry.Failure) {
		if f.Reason == couchbasereason.QueryPreparedStatementFailure {
			c.statements.remove(p)
		}
	}
	if r.Body = q.body("prepared", p.name); p.plan != "" {
		r.Body = q.body("prepared", p.name, "encoded_plan", p.plan)
	}
	return c.attempt(ctx, n, r, rows.open)
}

// prepareAndRunAtOnce prepares a statement that the service then runs. All nodes know the name afterwards.
func (c *Client) prepareAndRunAtOnce(ctx context.Context, n int, q *Query, r *Request, rows *Rows) *retry.Failure {
	rows.known = func(m *meta) {
		var name string
		if json.Unmarshal(m.fields["prepared"], &name) == nil && name != "" {
			c.statements.put(&prepared{key: statementKey{q.Statement, q.Context}, name: name})
		}
	}
	r.Body = q.body("statement", "PREPARE "+q.Statement, "auto_execute", true)
	return c.attempt(ctx, n, r, rows.open)
}

// prepare prepares a statement, for services that know it by its name on one node only.
func (c *Client) prepare(ctx context.Context, n int, q *Query, r *Request) (*prepared, *retry.Failure) {
	request := *r
	request.Idempotency = retry.ReadOnly
	request.Body = q.body("statement", "PREPARE "+q.Statement)
	rows := &Rows{judge: judgeQuery}
	if failure := c.attempt(ctx, n, &request, rows.open); failure != nil {
		failure.Idempotency = retry.ReadOnly
		return nil, failure
	}
	defer rows.Close()
	var row struct {
		Name string `json:"name"`
		Plan string `json:"encoded_plan"`
	}
	if !rows.Next() || json.Unmarshal(rows.Row(), &row) != nil || row.Name == "" {
		err := rows.Err()
		if err == nil {
			err = &Answer{Kind: KindPreparedStatementFailure, Status: http.StatusOK, err: errors.New("the answer to PREPARE has no name")}
		}
		return nil, &retry.Failure{Err: err, Stage: retry.StageAnswered, Idempotency: retry.ReadOnly, Endpoint: rows.Address()}
	}
	rows.Next() // so that the connection can be used again
	return &prepared{key: statementKey{q.Statement, q.Context}, name: row.Name, plan: row.Plan}, nil
}
