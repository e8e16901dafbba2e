package services

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/retry"
)

// Entry is one error of a service's answer.
type Entry struct {
	Code    uint32
	Message string
	// Retry means that the service itself calls the error temporary.
	Retry  bool
	Reason map[string]any
	From   string // of views: the node
}

// Answer is the error that a service answered.
type Answer struct {
	Kind    ErrorKind
	Status  int // HTTP's
	Entries []Entry
	Text    string // the body of the answer, cut after maxText
	err     error  // instead of an answer: why the request could not be made, or its answer not be understood
}

// maxText is the number of bytes that are kept of an answer that is an error.
const maxText = 64 << 10

// Error returns what the service said.
func (a *Answer) Error() string {
	var b strings.Builder
	b.WriteString(a.Kind.String())
	switch {
	case a.err != nil:
		fmt.Fprintf(&b, ": %v", a.err)
	case len(a.Entries) > 0:
		for _, e := range a.Entries[:min(len(a.Entries), 8)] {
			fmt.Fprintf(&b, ": %s (%d)", e.Message, e.Code)
		}
	default:
		fmt.Fprintf(&b, ": HTTP status %d: %.200s", a.Status, a.Text)
	}
	return b.String()
}

// Unwrap returns why the request could not be made, or its answer not be understood.
func (a *Answer) Unwrap() error { return a.err }

// verdict is what a service's table says of an answer.
type verdict struct {
	kind   ErrorKind
	reason retry.Reason // the zero reason: the answer is final
	// unsettled: the answer does not say that nothing was applied.
	unsettled bool
}

// judge returns the verdict on an answer, or false if the answer is a success.
type judge func(r *Request, a *Answer) (verdict, bool)

// failure describes an answer to the engine.
func (v verdict) failure(a *Answer, address string) *retry.Failure {
	a.Kind = v.kind
	return &retry.Failure{Err: a, Reason: v.reason, Stage: retry.StageAnswered, Unsettled: v.unsettled, Endpoint: address}
}

// entries reads the "errors" of an answer, whatever their form: a list of objects, or one object. What is no error is left out.
func entries(raw json.RawMessage) []Entry {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var all []Entry
	for _, one := range list {
		var e struct {
			Code      json.Number     `json:"code"`
			Message   string          `json:"msg"`
			Retry     bool            `json:"retry"`
			Retriable bool            `json:"retriable"`
			Reason    json.RawMessage `json:"reason"`
			From      string          `json:"from"`
		}
		// A field of another type is ignored: the rest of the entry still counts.
		_ = json.Unmarshal(one, &e)
		entry := Entry{Message: e.Message, Retry: e.Retry || e.Retriable, From: e.From}
		if code, err := e.Code.Int64(); err == nil && code >= 0 && code <= 1<<32-1 {
			entry.Code = uint32(code)
		}
		if json.Unmarshal(e.Reason, &entry.Reason) != nil {
			_ = json.Unmarshal(e.Reason, &entry.Message) // of views: the text
		}
		all = append(all, entry)
	}
	return all
}
