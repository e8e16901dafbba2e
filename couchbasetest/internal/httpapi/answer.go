package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

// Script answers requests of the query, analytics, search and views services.
type Script struct {
	Answer Answer
	// Func, if not nil, makes the answer. It is called without locks.
	Func func(*Request) Answer
}

// Answer is what a service answers.
type Answer struct {
	// Status of the HTTP reply; 0 is what the service says for the first of the errors.
	Status int
	Header map[string]string
	// Delay is how long the execution takes before the first row, RowDelay before each further row. A query that takes longer
	// than its timeout ends with the service's error for it.
	Delay, RowDelay time.Duration
	// Rows are the rows, hits or view rows. A json.RawMessage stands as it is.
	Rows     []any
	Errors   []Problem
	Warnings []Problem
	// Fields take the place of the fields that the service writes beside the rows, or are added to them; nil removes one.
	// Examples are "signature", "profile" and "metrics" of a query, "facets", "total_hits" and "status" of a search,
	// "total_rows", "debug_info" and "errors" of a view.
	Fields map[string]any
	// Mutations is the number of documents that a statement has changed.
	Mutations int
	// Body, if not nil, is the whole body in place of everything above but Status, Header and Delay.
	Body []byte
}

// Problem is an error or a warning of the query or analytics service.
type Problem struct {
	Code    int    `json:"code"`
	Message string `json:"msg"`
	// Retry is the field "retry" of a query's error and "retriable" of an analytics error.
	Retry bool `json:"-"`
	// Reason is the field "reason" of a query's error.
	Reason map[string]any `json:"reason,omitempty"`
}

// Script adds a script for the next requests that w selects: as many as times says, 0 is no limit. The function that it
// returns removes it. Of several scripts for a request, the newest answers.
func (s *Services) Script(w When, times int, script Script) (remove func()) {
	return s.scripts.add(w, times, 0, script)
}

// scripted returns the answer of the script for a request. It reports false if there is none.
func (x *exchange) scripted() (*encoded, bool) {
	script, ok := x.s.scripts.take(x.req)
	if !ok {
		return nil, false
	}
	a := script.Answer
	if script.Func != nil {
		a = script.Func(x.req)
	}
	return encode(a), true
}

// encoded is an answer in JSON.
type encoded struct {
	Answer
	rows   []json.RawMessage
	fields map[string]json.RawMessage // nil: the field is removed
	size   int                        // of the rows
	err    error                      // why the answer is not JSON
}

// encode writes an answer as JSON, so that all of it is known to be JSON before the first byte is sent.
func encode(a Answer) *encoded {
	e := &encoded{Answer: a, rows: make([]json.RawMessage, len(a.Rows)), fields: map[string]json.RawMessage{}}
	for i, row := range a.Rows {
		b, err := rowJSON(row)
		if err != nil {
			e.err = fmt.Errorf("row %d of the script's answer: %w", i, err)
			return e
		}
		e.rows[i] = b
		e.size += len(b)
	}
	for name, value := range a.Fields {
		if value == nil {
			e.fields[name] = nil
			continue
		}
		b, err := marshal(value)
		if err != nil {
			e.err = fmt.Errorf("the field %q of the script's answer: %w", name, err)
			return e
		}
		e.fields[name] = b
	}
	return e
}

// rowJSON writes a row as JSON.
func rowJSON(row any) ([]byte, error) {
	raw, ok := row.(json.RawMessage)
	switch {
	case !ok:
		return marshal(row)
	case !json.Valid(raw):
		return nil, errors.New("it is not JSON")
	}
	return raw, nil
}

// reply writes an answer, field by field.
type reply struct {
	x      *exchange
	answer *encoded
	fields int
	used   map[string]bool // the answer's fields that are written
}

// begin begins a reply.
func (x *exchange) begin(status int, contentType string, a *encoded) *reply {
	x.Header().Set("Content-Type", contentType)
	for name, value := range a.Header {
		x.Header().Set(name, value)
	}
	if a.Status != 0 {
		status = a.Status
	}
	x.WriteHeader(status)
	_, _ = x.Write([]byte("{"))
	return &reply{x: x, answer: a, used: map[string]bool{}}
}

// field writes a field, or what the script has in its place.
func (r *reply) field(name string, v any) {
	value, replaced := r.answer.fields[name]
	r.used[name] = true
	if !replaced {
		b, err := marshal(v)
		if err != nil {
			b, _ = marshal("couchbasetest: " + err.Error())
		}
		value = b
	}
	if value != nil {
		r.raw(name, value)
	}
}

func (r *reply) raw(name string, value []byte) {
	r.name(name)
	_, _ = r.x.Write(value)
}

func (r *reply) name(name string) {
	separator := ",\n"
	if r.fields == 0 {
		separator = "\n"
	}
	r.fields++
	key, _ := marshal(name)
	_, _ = r.x.Write([]byte(separator + string(key) + ": "))
}

// rows writes the rows. It returns the number of those written; the others were not because goOn reported false, which is
// asked to wait before each row but the first.
func (r *reply) rows(name string, goOn func(time.Duration) bool) int {
	r.name(name)
	_, _ = r.x.Write([]byte("["))
	r.x.cutRows()
	for i, row := range r.answer.rows {
		if i > 0 {
			if r.answer.RowDelay > 0 {
				r.x.Flush()
			}
			if !goOn(r.answer.RowDelay) {
				break
			}
			_, _ = r.x.Write([]byte(",\n"))
		}
		_, _ = r.x.Write(row)
		r.x.rowWritten()
	}
	_, _ = r.x.Write([]byte("]"))
	return r.x.rows
}

// end writes the script's further fields and ends the reply.
func (r *reply) end() {
	for _, name := range slices.Sorted(maps.Keys(r.answer.fields)) {
		if value := r.answer.fields[name]; !r.used[name] && value != nil {
			r.raw(name, value)
		}
	}
	_, _ = r.x.Write([]byte("\n}\n"))
}

// whole sends an answer that is a whole body. It reports false if the answer is not one.
func (x *exchange) whole(a *encoded) bool {
	if a.Body == nil {
		return false
	}
	if pause.For(x.req.ctx, a.Delay) != nil {
		return true
	}
	for name, value := range a.Header {
		x.Header().Set(name, value)
	}
	status := a.Status
	if status == 0 {
		status = 200
	}
	x.text(status, string(a.Body))
	return true
}
