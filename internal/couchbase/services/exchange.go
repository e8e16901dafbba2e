package services

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"

	"github.com/holdfast-db/holdfast/internal/couchbase/pools"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// exchange is one HTTP request to one node, and its answer while that is read.
type exchange struct {
	client  *Client
	request *Request
	address string
	newer   <-chan struct{}
	retries int             // before this exchange
	parent  context.Context //nolint:containedctx // the operation's
	// ctx ends when the operation's does, when the node leaves, and when the exchange is closed.
	ctx        context.Context //nolint:containedctx // the life of the exchange, which outlasts the function that begins it
	cancel     context.CancelCauseFunc
	departure  departure
	conn       *conn
	reply      *http.Response
	wait       *pools.Wait // for the connection
	dispatched Dispatched
	panicked   *any // the panic of OnDispatch
}

// begin starts an exchange with a node of an offer.
func (c *Client) begin(ctx context.Context, r *Request, address string, offer Offer) *exchange {
	x := &exchange{client: c, request: r, address: address, newer: offer.Newer, parent: ctx}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	if offer.Newer != nil {
		go x.watch(offer.Newer)
	}
	return x
}

// close ends the exchange. If the answer was not read to its end, the connection is closed with it.
func (x *exchange) close() {
	if x.release() {
		x.conn.abandoned.Store(true)
	}
	if x.reply != nil {
		x.reply.Body.Close()
	}
	x.cancel(context.Canceled)
}

// release notes that the exchange does not use its connection any more. It reports whether it did until now: another one may have it already.
func (x *exchange) release() bool { return x.conn != nil && x.conn.user.CompareAndSwap(x, nil) }

// send sends the request and waits for the head of the answer. If it returns a failure, the exchange is closed.
func (x *exchange) send(body []byte) *retry.Failure {
	request, err := x.build(body)
	if err != nil {
		x.close()
		return &retry.Failure{Err: err, Stage: retry.StageBeforeSending, Endpoint: x.address}
	}
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { x.gotConn(info.Conn.(*conn)) }}
	place := pools.Place{Address: x.address, Service: serviceName(x.request.Service)}
	x.wait = x.client.connect.pools.Wait(place, x.client.connect.most)
	ctx := context.WithValue(x.ctx, serviceKey{}, place.Service)
	x.departure.reads.Add(1)
	x.reply, err = x.client.transport.RoundTrip(request.WithContext(httptrace.WithClientTrace(ctx, trace))) //nolint:bodyclose // close does
	x.departure.reads.Add(1)
	if x.conn == nil {
		x.wait.End(x.hasEnded())
	}
	if x.panicked != nil {
		panic(*x.panicked)
	}
	if x.dispatched.Head != nil {
		x.dispatched.Head(err)
	}
	if err != nil {
		failure := x.failed(err)
		x.close()
		return failure
	}
	x.reply.Body = &countedBody{ReadCloser: x.reply.Body, exchange: x}
	x.client.failures.remove(x.address)
	return nil
}

// gotConn is called when the exchange has a connection. A panic of OnDispatch waits until net/http has taken the connection back: else that would
// belong to nobody.
func (x *exchange) gotConn(c *conn) {
	x.conn = c
	c.abandoned.Store(false)
	c.user.Store(x)
	x.wait.End(false)
	c.begin()
	if !x.connected() {
		c.seal()
		return
	}
	if x.request.OnDispatch == nil {
		return
	}
	// OnDispatch may close the client, which waits for the end of all connections, also of this one.
	stop := context.AfterFunc(x.client.closed, func() { c.Close() })
	defer stop()
	defer func() {
		if v := recover(); v != nil {
			x.panicked = &v
			c.seal()
		}
	}()
	x.dispatched = x.request.OnDispatch(Dispatch{
		Service: x.request.Service, Address: x.address, Retries: x.retries, Local: c.LocalAddr().String(), Remote: c.RemoteAddr().String(),
	})
}

// ended tells how the attempt ended.
func (x *exchange) ended(failure *retry.Failure) {
	tell := x.dispatched.Ended
	if tell == nil {
		return
	}
	var status int
	if x.reply != nil {
		status = x.reply.StatusCode
	}
	if failure == nil {
		tell(status, nil)
		return
	}
	tell(status, failure.Err)
}

// build makes the HTTP request.
func (x *exchange) build(body []byte) (*http.Request, error) {
	target, err := url.Parse(x.client.scheme + x.address + x.request.Path)
	if err != nil {
		return nil, &Answer{Kind: KindInvalidArgument, err: errors.New("the path cannot be part of a URL")}
	}
	// A body without GetBody stops net/http from sending the request a second time by itself; an empty one changes nothing else.
	h := &http.Request{Method: x.request.Method, URL: target, Header: x.request.Header.Clone(), Body: io.NopCloser(bytes.NewReader(body))}
	h.ContentLength = int64(len(body))
	if h.Header == nil {
		h.Header = make(http.Header)
	}
	if h.Header.Get("Content-Type") == "" {
		h.Header.Set("Content-Type", "application/json")
	}
	h.Header.Set("User-Agent", userAgent(x.client.agent, x.request.ID))
	if x.client.credential != nil {
		credential, err := x.client.credential(x.ctx, x.request.Service, x.address)
		if err != nil {
			return nil, &Answer{Kind: KindAuthenticationFailure, err: err}
		}
		credential.authorize(h)
	}
	return h, nil
}

// userAgent is the User-Agent in the form that the services know from the official SDKs.
func userAgent(agent, id string) string {
	b, _ := json.Marshal(struct { // two strings
		Agent string `json:"a"`
		ID    string `json:"i"`
	}{agent, id})
	return string(b)
}

func (c *Credential) authorize(r *http.Request) {
	switch {
	case c.Token != "":
		r.Header.Set("Authorization", "Bearer "+c.Token)
	case c.Username != "" || c.Password != "":
		r.SetBasicAuth(c.Username, c.Password)
	}
}

// failed classifies an error of the exchange that is no answer of the service.
func (x *exchange) failed(err error) *retry.Failure {
	failure := &retry.Failure{Err: err, Stage: retry.StageInFlight, Endpoint: x.address, Wake: x.newer}
	if x.conn == nil || x.conn.seal() { // net/http closes a connection whose request failed
		failure.Stage = retry.StageBeforeSending
	}
	cause := context.Cause(x.ctx)
	left := errors.Is(cause, errNodeLeft) // then the newer map is there, so there is no delay
	switch {
	case x.hasEnded(): // the engine says why
		failure.Err = cause
		return failure
	case left && failure.Stage == retry.StageBeforeSending:
		failure.Err, failure.Reason = errNodeLeft, couchbasereason.NodeNotAvailable
	case failure.Stage == retry.StageBeforeSending:
		failure.Reason = couchbasereason.SocketNotAvailable
	case left:
		failure.Err, failure.Reason = errNodeLeft, couchbasereason.SocketClosedInFlight
	case x.conn.lost.Load() != nil:
		failure.Reason, failure.Wake = couchbasereason.SocketClosedInFlight, nil
	default: // the answer is not HTTP: unknown
		return failure
	}
	if !left {
		x.client.failures.add(x.address)
	}
	return failure
}

// hasEnded reports whether the operation has ended, and not just its node left.
func (x *exchange) hasEnded() bool {
	cause := context.Cause(x.ctx)
	return cause != nil && !errors.Is(cause, errNodeLeft)
}

// framed reports whether the end of the answer's body can be told from the loss of the connection.
func (x *exchange) framed() bool {
	return x.reply.ContentLength >= 0 || len(x.reply.TransferEncoding) > 0 || x.reply.Uncompressed
}
