package httpapi

import (
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// result is what the query and the analytics service write around the rows.
type result struct {
	id       string // of the request
	prepared string // the name of the statement that was prepared and executed
	began    time.Time
}

// metrics is the field "metrics" of a reply.
type metrics struct {
	Elapsed      string `json:"elapsedTime"`
	Execution    string `json:"executionTime"`
	Count        int    `json:"resultCount"`
	Size         int    `json:"resultSize"`
	Load         int    `json:"serviceLoad,omitempty"`
	Processed    *int   `json:"processedObjects,omitempty"` // of analytics
	Mutations    int    `json:"mutationCount,omitempty"`
	ErrorCount   int    `json:"errorCount,omitempty"`
	WarningCount int    `json:"warningCount,omitempty"`
}

// problem answers with an error only.
func (x *exchange) problem(p Problem) {
	x.result(&result{id: x.s.newID(), began: x.req.At}, encode(Answer{Errors: []Problem{p}}))
}

// result writes an answer of the query or the analytics service.
func (x *exchange) result(res *result, a *encoded) {
	if a.err != nil {
		a = encode(Answer{Status: http.StatusInternalServerError, Errors: []Problem{{Code: 5000, Message: "couchbasetest: " + a.err.Error()}}})
	}
	run := x.execute(res)
	defer run.release()
	if x.whole(a) {
		return
	}
	problems := a.Errors
	started := run.wait(a.Delay)
	if !started {
		problems = append([]Problem{run.problem(x.req)}, problems...)
	}
	status, word := http.StatusOK, "success"
	if len(problems) > 0 {
		status, word = problemStatus(x.req.Service, problems[0].Code)
	}
	if started && len(a.rows) > 0 {
		status = http.StatusOK // it is sent before the rows, and the errors after them
	}
	r := x.begin(status, "application/json; version=1.0.0", a)
	r.field("requestID", res.id)
	if id := x.req.Field("client_context_id"); id != "" {
		r.field("clientContextID", id)
	}
	if len(problems) == 0 || len(a.rows) > 0 {
		r.field("signature", map[string]string{"*": "*"})
	}
	if res.prepared != "" {
		r.field("prepared", res.prepared)
	}
	count := 0
	if started && (len(problems) == 0 || len(a.rows) > 0) {
		if count = r.rows("results", run.wait); count < len(a.rows) {
			problems = append([]Problem{run.problem(x.req)}, problems...)
			_, word = problemStatus(x.req.Service, problems[0].Code)
		}
	}
	x.trailer(r, res, problems, word, count)
}

// trailer writes what stands after the rows.
func (x *exchange) trailer(r *reply, res *result, problems []Problem, word string, count int) {
	a, service := r.answer, x.req.Service
	if len(problems) > 0 {
		r.field("errors", problemFields(service, problems))
	}
	if len(a.Warnings) > 0 {
		r.field("warnings", problemFields(service, a.Warnings))
	}
	r.field("status", word)
	if service == clustermap.Analytics || x.req.flag("metrics", true) {
		took := time.Since(res.began).String()
		m := metrics{
			Elapsed: took, Execution: took, Count: count, Size: a.size, Mutations: a.Mutations,
			ErrorCount: len(problems), WarningCount: len(a.Warnings),
		}
		if service == clustermap.Analytics {
			m.Processed = &count
		} else {
			m.Load = 1
		}
		r.field("metrics", m)
	}
	if profile := x.req.Field("profile"); profile == "phases" || profile == "timings" {
		r.field("profile", map[string]any{"phaseTimes": map[string]string{}, "phaseCounts": map[string]int{}})
	}
	r.end()
}
