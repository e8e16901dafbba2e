package simulation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// tokenField has the token of a statement's run. Prepared or not, a request has it.
const tokenField = "client_context_id"

// script answers all statements with rows that have their token, and counts the runs.
func script(h *history) couchbasetest.HTTPScript {
	return couchbasetest.HTTPScript{Func: func(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
		if r.Preparing {
			return couchbasetest.HTTPAnswer{}
		}
		token := r.Field(tokenField)
		h.executed(token)
		return couchbasetest.HTTPAnswer{Rows: []any{token, token, token}, RowDelay: time.Millisecond}
	}}
}

// httpFaults strike the requests of one query.
func httpFaults(o *operation) []couchbasetest.HTTPFault {
	return []couchbasetest.HTTPFault{
		{Cut: couchbasetest.CutHTTPRequest},
		{Cut: couchbasetest.CutHTTPReply},
		{Cut: couchbasetest.CutHTTPRows, After: 1 + o.IntN(2)},
		{Cut: couchbasetest.CutHTTPBytes, After: o.IntN(120)},
		{Cut: couchbasetest.CutHTTPRequest, Silent: true},
		{Cut: couchbasetest.CutHTTPReply, Silent: true},
		{Status: 503, Body: `{"errors":[{"code":1000,"msg":"the service is starting","retry":true}],"status":"fatal"}`},
		{Status: 500, Body: `{"errors":[{"code":5000,"msg":"queryport.indexNotFound"}],"status":"fatal"}`},
		{Status: 404, Body: `{"errors":[{"code":4040,"msg":"no such prepared statement"}],"status":"fatal"}`},
		{Status: 200, Body: `{"errors":[{"code":12009,"msg":"DML error","reason":{"code":12033}}],"status":"errors"}`},
		{Delay: time.Duration(o.IntN(3000)) * time.Millisecond},
	}
}

// query runs a statement that reads or changes something.
func (w *worker) query(o *operation) {
	reads := o.IntN(2) == 0
	doc := "q" + o.id
	c := &call{kind: "query"}
	statement := "SELECT RAW x FROM sim"
	if !reads {
		c.write, statement = &write{effect: queryChanged}, "UPDATE sim SET n = n + 1"
	}
	c = w.start(o, doc, c)
	if c.write != nil {
		c.write.safety = unsafe
	}
	if !w.moving && o.IntN(3) == 0 {
		faults := httpFaults(o)
		remove := w.server.HTTP().Inject(couchbasetest.HTTPWhen{
			Services: []couchbasetest.Service{couchbasetest.Query},
			Func:     func(r *couchbasetest.HTTPRequest) bool { return r.Field(tokenField) == c.id },
		}, 1+o.IntN(2), 0, faults[o.IntN(len(faults))])
		defer remove()
	}
	timeout := o.timeout
	if timeout == 0 {
		timeout = w.Scaled(20 * time.Second)
	}
	var rows []string
	result, err := w.client.Query(statement, &couchbase.QueryOptions{
		ClientContextID: c.id, Readonly: reads, Adhoc: o.IntN(2) == 0, Timeout: timeout, Context: o.ctx, RetryStrategy: o.strategy,
	})
	if err == nil {
		rows, err = w.rows(result)
	}
	w.end(c, doc, err)
	if len(rows) > 0 && err != nil && c.write != nil {
		c.write.claim = unknown // some rows came, so the statement was executed at least in part
	}
	want := []string{c.id, c.id, c.id}
	if err == nil && !slices.Equal(rows, want) || err != nil && !slices.Equal(rows, want[:min(len(rows), len(want))]) {
		w.history.violated("result", "%s: the rows are %v: %v", c.id, rows, c)
	}
}

// rows reads all rows.
func (w *worker) rows(result *couchbase.QueryResult) ([]string, error) {
	var rows []string
	for result.Next() {
		var row string
		if err := result.Row(&row); err != nil {
			return rows, errors.Join(fmt.Errorf("row %d", len(rows)), err, result.Close())
		}
		rows = append(rows, row)
	}
	return rows, errors.Join(result.Err(), result.Close())
}
