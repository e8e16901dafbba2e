package retryhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/retry"
)

// Options configure a [Transport].
type Options struct {
	// Engine decides about the retries. It must be set.
	Engine *retry.Engine
	// Base makes the attempts. Nil means http.DefaultTransport. How far an attempt came is known only of a base that reports to
	// net/http/httptrace, as http.Transport does; the failures of another one count as in flight.
	Base http.RoundTripper
	// Judge returns the failure that a response is, or the zero Failure. Nil means the function [Judge]. Its Err must be set for a
	// failure; the transport sets its Stage. It must not read the body, and must be safe for concurrent use.
	Judge func(*http.Response) retry.Failure
}

// Transport is an http.RoundTripper that makes several attempts where that is safe. It is safe for concurrent use.
type Transport struct {
	engine *retry.Engine
	base   http.RoundTripper
	judge  func(*http.Response) retry.Failure
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns a transport, or an error that names the option and its rule.
func NewTransport(o Options) (*Transport, error) {
	if o.Engine == nil {
		return nil, errors.New("retryhttp: Options.Engine is nil; it must be an engine, made by retry.New")
	}
	t := &Transport{engine: o.Engine, base: o.Base, judge: o.Judge}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if t.judge == nil {
		t.judge = Judge
	}
	return t, nil
}

// CloseIdleConnections closes those of the base, if it can. http.Client.CloseIdleConnections calls it.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper. The request's context bounds all attempts together. The name of the operation, for
// observers, is the method, and its endpoint is the host of the URL.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	trip := &roundTrip{Transport: t, request: request, body: bodyOf(request)}
	op := retry.Operation{Name: cmp.Or(request.Method, http.MethodGet), Idempotency: idempotencyOf(request)}
	if request.URL != nil {
		op.Endpoint = request.URL.Host
	}
	err := t.engine.Do(request.Context(), op, trip.attempt)
	response := trip.response
	if err != nil && response != nil && request.Context().Err() != nil {
		trip.discard() // its body could not be read any more
		response = nil
	}
	if trip.body != nil {
		trip.body.end(response != nil)
	}
	if response == nil {
		return nil, err
	}
	response.Request = request
	return response, nil
}

// roundTrip is one call of RoundTrip.
type roundTrip struct {
	*Transport
	request  *http.Request
	body     *requestBody
	response *http.Response // of the latest attempt, not yet given to the caller
}

// attempt makes one attempt.
func (r *roundTrip) attempt(ctx context.Context, _ int) retry.Failure {
	r.discard()
	ctx, limit := r.context(ctx)
	var progress progress
	request, err := r.next(httptrace.WithClientTrace(ctx, progress.trace()))
	if err != nil {
		limit.end()
		return retry.Failure{Err: err, Stage: retry.StageBeforeSending, Stop: retry.StopNotBuilt}
	}
	response, err := r.base.RoundTrip(request)
	if err == nil && limit != nil && !limit.release() {
		_ = response.Body.Close()
		err = context.Cause(ctx) // the attempt's time was over when the response came
	}
	stage := progress.stage()
	if r.body != nil && (err == nil || stage != retry.StageBeforeSending) {
		r.body.use() // net/http may still read it
	}
	if err != nil {
		limit.end()
		return retry.Failure{Err: err, Stage: stage, Reason: reasonOf(err, stage), Stop: r.refusal()}
	}
	if limit != nil {
		response.Body = limit.body(response.Body)
	}
	r.response = response
	failure := r.judge(response)
	if failure.Err != nil {
		failure.Stage = retry.StageAnswered
		if failure.Stop == retry.StopNone {
			failure.Stop = r.refusal()
		}
	}
	return failure
}

// context returns the context of an attempt's request. The second result is nil unless the attempt has a time limit.
func (r *roundTrip) context(attempt context.Context) (context.Context, *attemptContext) {
	caller := r.request.Context()
	if attempt == caller {
		return caller, nil
	}
	return detached(caller, attempt)
}

// next returns the request for the next attempt: a copy with a whole body.
func (r *roundTrip) next(ctx context.Context) (*http.Request, error) {
	request := r.request.WithContext(ctx)
	switch {
	case r.body == nil:
	case !r.body.wasUsed():
		request.Body = r.body.lend()
	default:
		body, err := r.request.GetBody() // it is not nil: see refusal
		if err != nil {
			return nil, fmt.Errorf("retryhttp: the request's GetBody: %w", err)
		}
		request.Body = body
	}
	return request, nil
}

// refusal returns why the request cannot be sent again.
func (r *roundTrip) refusal() retry.StopReason {
	if r.body != nil && r.body.wasUsed() && r.request.GetBody == nil {
		return retry.StopNotReplayable
	}
	return retry.StopNone
}

// drained is how much of a response's body is read, so that its connection can be used again.
const drained = 64 << 10

// discard ends the response that is followed by another attempt.
func (r *roundTrip) discard() {
	if r.response == nil {
		return
	}
	if r.response.ContentLength <= drained {
		_, _ = io.CopyN(io.Discard, r.response.Body, drained)
	}
	_ = r.response.Body.Close()
	r.response = nil
}

// progress is how far an attempt came, by the reports of net/http/httptrace. They can come from other goroutines.
type progress struct {
	reports   atomic.Bool // the base reports
	connected atomic.Bool
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { p.reports.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { p.connected.Store(true) },
	}
}

// stage returns the stage of an attempt without a response. Nothing was sent only if the base reported that it wanted a
// connection and did not get one.
func (p *progress) stage() retry.Stage {
	if p.reports.Load() && !p.connected.Load() {
		return retry.StageBeforeSending
	}
	return retry.StageInFlight
}
