package services

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// pingPaths has the path that answers cheaply, for each service.
var pingPaths = map[clustermap.Service]string{
	clustermap.Query: "/admin/ping", clustermap.Analytics: "/admin/ping", clustermap.Search: "/api/ping",
	clustermap.Views: "/", clustermap.Management: "/whoami",
}

// Pong is the result of a ping.
type Pong struct {
	Local, Remote string // the ends of the connection; "" without one
	Latency       time.Duration
	Err           error
}

// Ping asks one node for an answer, once: a ping is not repeated, because its result is what the caller wants to know.
// An HTTP status that is not 200 is an error.
func (c *Client) Ping(ctx context.Context, service clustermap.Service, address string, timeout time.Duration) Pong {
	var p Pong
	r := &Request{Service: service, Method: http.MethodGet, Path: pingPaths[service], Idempotency: retry.ReadOnly}
	r.Timeout, r.Address, r.Name = timeout, address, "ping"
	r.OnDispatch = func(d Dispatch) Dispatched { p.Local, p.Remote = d.Local, d.Remote; return Dispatched{} }
	if p.Err = r.check(); p.Err != nil {
		return p
	}
	l := c.live(ctx, timeout)
	defer l.end()
	begin := time.Now()
	failure := c.pong(l, r) //nolint:contextcheck // l is made from ctx
	p.Latency = time.Since(begin)
	if failure == nil {
		return p
	}
	e := &Error{Kind: failureKind(failure), Service: service, Address: address, Err: failure.Err, OutcomeKnown: true}
	if errors.As(failure.Err, &e.Answer); isDeadline(failure.Err) {
		e.Kind = KindUnambiguousTimeout
	}
	p.Err = e
	return p
}

// pong sends a ping and reads its answer.
func (c *Client) pong(ctx context.Context, r *Request) *retry.Failure {
	x := c.begin(ctx, r, r.Address, Offer{})
	if failure := x.send(nil); failure != nil { //nolint:contextcheck // the exchange has it
		return failure
	}
	defer x.close()
	text, err := io.ReadAll(io.LimitReader(x.reply.Body, maxText))
	if err != nil {
		return x.failed(err)
	}
	if v, bad := judgeStatus(r, &Answer{Status: x.reply.StatusCode}); bad {
		return v.failure(&Answer{Status: x.reply.StatusCode, Text: string(text)}, x.address)
	}
	return nil
}
