package mockcontrol

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// services are the HTTP services by their names.
var services = map[string]couchbasetest.Service{
	"management": couchbasetest.Management, "views": couchbasetest.Views, "query": couchbasetest.Query,
	"search": couchbasetest.Search, "analytics": couchbasetest.Analytics,
}

// selection selects HTTP requests.
type selection struct {
	Services  []string `json:"services,omitempty"`
	Nodes     []int    `json:"nodes,omitempty"`
	Method    string   `json:"method,omitempty"`
	Path      string   `json:"path,omitempty"` // or its beginning and "*"
	Statement string   `json:"statement,omitempty"`
}

func (s *selection) when(c *control, allowed ...string) (w couchbasetest.HTTPWhen, err error) {
	if err = c.checkNodes("nodes", s.Nodes); err != nil {
		return w, err
	}
	w = couchbasetest.HTTPWhen{Method: strings.ToUpper(s.Method), Path: s.Path, Statement: s.Statement}
	for _, n := range s.Nodes {
		w.Nodes = append(w.Nodes, couchbasetest.NodeID(n))
	}
	for _, name := range s.Services {
		if !slices.Contains(allowed, name) {
			return w, badField("services", "it has %q; it must have some of %s", name, strings.Join(allowed, ", "))
		}
		w.Services = append(w.Services, services[name])
	}
	return w, nil
}

// cuts are the places where a fault can end a connection.
var cuts = map[string]couchbasetest.HTTPFault{
	"": {}, "request": {Cut: couchbasetest.CutHTTPRequest}, "reply": {Cut: couchbasetest.CutHTTPReply},
	"rows": {Cut: couchbasetest.CutHTTPRows}, "bytes": {Cut: couchbasetest.CutHTTPBytes},
}

// httpFault is the body of a fault of HTTP requests.
type httpFault struct {
	selection
	limits

	Delay  string            `json:"delay,omitempty"`
	Status int               `json:"status,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	Cut    string            `json:"cut,omitempty"`
	After  int               `json:"after,omitempty"`
	Silent bool              `json:"silent,omitempty"`
}

// addHTTPFault makes HTTP requests fail.
func (c *control) addHTTPFault(r *http.Request) (any, error) {
	var body httpFault
	if err := read(r, &body); err != nil {
		return nil, err
	}
	when, err := body.when(c, "management", "views", "query", "search", "analytics")
	if err != nil {
		return nil, err
	}
	fault, err := body.fault()
	if err != nil {
		return nil, err
	}
	d, err := body.checkLimits()
	if err != nil {
		return nil, err
	}
	return c.rules.add("faults/http", &body, func(one *rule) func() {
		fault.Before = func() { one.happened.Add(1) }
		return c.cluster.HTTP().Inject(when, body.Times, d, fault)
	})
}

// fault returns the fault as couchbasetest has it.
func (b *httpFault) fault() (f couchbasetest.HTTPFault, err error) {
	f, known := cuts[b.Cut]
	f.Status, f.Body, f.After, f.Silent, f.Header = b.Status, b.Body, b.After, b.Silent, make(http.Header)
	for name, value := range b.Header {
		f.Header.Set(name, value)
	}
	f.Delay, err = duration("delay", b.Delay)
	switch {
	case err != nil:
	case !known:
		err = badField("cut", `it is %q; it must be "request", "reply", "rows" or "bytes"`, b.Cut)
	case b.Status != 0 && (b.Status < 200 || b.Status > 599):
		err = badField("status", "it is %d; it must be 200 to 599", b.Status)
	case b.Body != "" && b.Status == 0:
		err = badField("body", "it needs status")
	case b.After < 0:
		err = badField("after", "%d is negative", b.After)
	case b.After > 0 && b.Cut != "rows" && b.Cut != "bytes":
		err = badField("after", `it needs cut "rows" or "bytes"`)
	case b.Silent && b.Cut == "":
		err = badField("silent", "it needs cut")
	case f.Delay == 0 && b.Status == 0 && b.Cut == "" && len(b.Header) == 0:
		err = badField("status", "the fault does nothing; it needs delay, status, header or cut")
	}
	return f, err
}

// script is the body of a script.
type script struct {
	selection
	Times  int    `json:"times,omitempty"`
	Answer answer `json:"answer"`
}

// answer is what a service answers.
type answer struct {
	Status    int               `json:"status,omitempty"`
	Header    map[string]string `json:"header,omitempty"`
	Delay     string            `json:"delay,omitempty"`
	RowDelay  string            `json:"rowDelay,omitempty"`
	Rows      []json.RawMessage `json:"rows,omitempty"`
	Errors    []scriptProblem   `json:"errors,omitempty"`
	Warnings  []scriptProblem   `json:"warnings,omitempty"`
	Fields    map[string]any    `json:"fields,omitempty"`
	Mutations int               `json:"mutations,omitempty"`
	Body      *string           `json:"body,omitempty"`
}

// scriptProblem is an error or a warning of an answer.
type scriptProblem struct {
	Code    int            `json:"code"`
	Message string         `json:"msg"`
	Retry   bool           `json:"retry,omitempty"`
	Reason  map[string]any `json:"reason,omitempty"`
}

// addScript says what a service answers.
func (c *control) addScript(r *http.Request) (any, error) {
	var body script
	if err := read(r, &body); err != nil {
		return nil, err
	}
	when, err := body.when(c, "views", "query", "search", "analytics")
	if err != nil {
		return nil, err
	}
	if err = notNegative("times", body.Times); err != nil {
		return nil, err
	}
	a, err := body.Answer.answer()
	if err != nil {
		return nil, err
	}
	return c.rules.add("scripts", &body, func(one *rule) func() {
		return c.cluster.HTTP().Script(when, body.Times, couchbasetest.HTTPScript{Func: func(*couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
			one.happened.Add(1)
			return a
		}})
	})
}

// answer returns the answer as couchbasetest has it.
func (b *answer) answer() (couchbasetest.HTTPAnswer, error) {
	a := couchbasetest.HTTPAnswer{Status: b.Status, Header: b.Header, Fields: b.Fields, Mutations: b.Mutations}
	var delay, rowDelay time.Duration
	err := durations(fieldDuration{"answer.delay", b.Delay, &delay}, fieldDuration{"answer.rowDelay", b.RowDelay, &rowDelay})
	switch {
	case err != nil:
		return a, err
	case b.Status != 0 && (b.Status < 200 || b.Status > 599):
		return a, badField("answer.status", "it is %d; it must be 200 to 599", b.Status)
	case b.Mutations < 0:
		return a, badField("answer.mutations", "%d is negative", b.Mutations)
	case b.Body != nil && (b.Rows != nil || b.Errors != nil || b.Warnings != nil || b.Fields != nil || b.Mutations != 0 || b.RowDelay != ""):
		return a, badField("answer.body", "it is the whole body, and excludes rows, errors, warnings, fields, mutations and rowDelay")
	}
	a.Delay, a.RowDelay = delay, rowDelay
	for _, row := range b.Rows {
		a.Rows = append(a.Rows, row)
	}
	if a.Errors, err = problems("answer.errors", b.Errors); err != nil {
		return a, err
	}
	if a.Warnings, err = problems("answer.warnings", b.Warnings); err != nil {
		return a, err
	}
	if b.Body != nil {
		a.Body = []byte(*b.Body)
	}
	return a, nil
}

func problems(field string, list []scriptProblem) (to []couchbasetest.HTTPProblem, err error) {
	for i, p := range list {
		if p.Code == 0 {
			return nil, badField(fmt.Sprintf("%s[%d].code", field, i), "it is 0, or not there")
		}
		to = append(to, couchbasetest.HTTPProblem{Code: p.Code, Message: p.Message, Retry: p.Retry, Reason: p.Reason})
	}
	return to, nil
}
