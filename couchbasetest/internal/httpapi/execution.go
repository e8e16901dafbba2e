package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// errStopped is why a request ended that another request has stopped.
var errStopped = errors.New("stopped by a request")

// execution is the execution of a statement. It ends when the statement's timeout is over, when another request stops it, and
// when the client leaves.
type execution struct {
	ctx     context.Context //nolint:containedctx // It lives only as long as the handler's call.
	release func()
}

func (x *exchange) execute(res *result) *execution {
	ctx, stop := context.WithCancelCause(x.req.ctx)
	cancel := func() {}
	if timeout, ok := timeoutOf(x.req); ok {
		ctx, cancel = context.WithTimeout(ctx, timeout)
	}
	remove := x.s.active.add(x.node, x.req, res.id, func() { stop(errStopped) })
	return &execution{ctx, func() { remove(); cancel(); stop(nil) }}
}

// wait waits. It reports false if the execution has ended.
func (e *execution) wait(d time.Duration) bool { return pause.For(e.ctx, d) == nil }

// problem returns the error of an execution that has ended early.
func (e *execution) problem(r *Request) Problem {
	switch {
	case errors.Is(context.Cause(e.ctx), errStopped):
		return Problem{Code: 5000, Message: "The request was stopped."}
	case r.Service == clustermap.Analytics:
		return Problem{Code: 21002, Message: "Request timed out and will be cancelled"}
	}
	return Problem{Code: 1080, Message: "Timeout " + r.Field("timeout") + " exceeded"}
}

// timeoutOf returns the time that a request permits itself. A number without a unit is in seconds.
func timeoutOf(r *Request) (time.Duration, bool) {
	text := r.Field("timeout")
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, true
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second)), true
	}
	return 0, false
}

// activeRequest is a statement that is being executed, as the services list it.
type activeRequest struct {
	ID        string `json:"requestId"`
	ContextID string `json:"clientContextID,omitempty"`
	Statement string `json:"statement"`
	State     string `json:"state"`
	Began     string `json:"requestTime"`

	node    NodeID
	service clustermap.Service
	stop    func()
}

// active is the statements that are being executed.
type active struct {
	mu       sync.Mutex
	requests []*activeRequest
}

func (a *active) add(node NodeID, r *Request, id string, stop func()) (remove func()) {
	one := &activeRequest{
		ID: id, ContextID: r.Field("client_context_id"), Statement: r.Statement, State: "running", Began: r.At.UTC().Format(time.RFC3339Nano),
		node: node, service: r.Service, stop: stop,
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, one)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for i, other := range a.requests {
			if other == one {
				a.requests = append(a.requests[:i:i], a.requests[i+1:]...)
				return
			}
		}
	}
}

// find returns the active requests of a node's service that a function selects.
func (a *active) find(x *exchange, selects func(*activeRequest) bool) []*activeRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := []*activeRequest{}
	for _, one := range a.requests {
		if one.node == x.node && one.service == x.req.Service && selects(one) {
			found = append(found, one)
		}
	}
	return found
}

func listActive(x *exchange) {
	x.json(http.StatusOK, x.s.active.find(x, func(*activeRequest) bool { return true }))
}

// stopActive ends the active requests that a function selects.
func stopActive(x *exchange, selects func(*activeRequest) bool) {
	found := x.s.active.find(x, selects)
	for _, one := range found {
		one.stop()
	}
	if len(found) == 0 {
		x.text(http.StatusNotFound, "No such request.")
		return
	}
	x.json(http.StatusOK, true)
}
