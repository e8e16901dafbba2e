package retryhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// StatusError is the error of an attempt that was answered with a status for which there may be another attempt. Only the
// history, the events and the strategy see it: the caller gets the response itself.
type StatusError struct {
	Code int // the status code
}

// Error returns the status in words.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code))
}

// Judge returns the failure that a response is. The zero Failure, which it returns for every other status, is a success:
//
//   - 429 is [retry.ReasonRateLimited]: the server did nothing.
//   - 502, 503 and 504 are [retry.ReasonUnavailable] and unsettled: a proxy gives these answers also when it lost the server's
//     own, so the request may have been applied. They are retried only if the request's idempotency permits it.
//
// RetryAfter is that of the response. The transport adds the stage, the idempotency and the endpoint.
func Judge(response *http.Response) retry.Failure {
	var f retry.Failure
	switch response.StatusCode {
	case http.StatusTooManyRequests:
		f.Reason = retry.ReasonRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Reason, f.Unsettled = retry.ReasonUnavailable, true
	default:
		return f
	}
	f.Err = &StatusError{response.StatusCode}
	f.RetryAfter = RetryAfter(response.Header, time.Now())
	return f
}

// reasonOf returns the reason of an error without a response. Only an error that is known to come from the network has one: a wrong
// address, a wrong certificate or a wrong request would be wrong again.
func reasonOf(err error, stage retry.Stage) retry.Reason {
	switch {
	case !isNetworkError(err):
		return retry.ReasonUnknown
	case stage == retry.StageBeforeSending:
		return retry.ReasonConnectionFailed
	default:
		return retry.ReasonNetworkError
	}
}

func isNetworkError(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // the caller's, or the attempt's time limit: the engine knows which
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTimeout || dns.IsTemporary
	}
	var alert tls.AlertError
	if errors.As(err, &alert) { // the two sides do not understand or do not trust each other
		return false
	}
	var network net.Error // *net.OpError and the time limits of http.Transport
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
