package retryhttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
)

// "An error is retried only if it is known to be a network error."
func TestWhichErrorsComeFromTheNetwork(t *testing.T) {
	unknown := retry.ReasonUnknown
	for _, c := range []struct {
		name string
		err  error
		want retry.Reason // in flight; before sending CONNECTION_FAILED, unless it is UNKNOWN
	}{
		{"a refused connection", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, retry.ReasonNetworkError},
		{"a reset", fmt.Errorf("read: %w", syscall.ECONNRESET), retry.ReasonNetworkError},
		{"a broken pipe", syscall.EPIPE, retry.ReasonNetworkError},
		{"a connection closed before the answer", io.EOF, retry.ReasonNetworkError},
		{"a connection closed within the answer", fmt.Errorf("net/http: %w", io.ErrUnexpectedEOF), retry.ReasonNetworkError},
		{"a time limit of the network", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, retry.ReasonNetworkError},
		{"a name server that did not answer", &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}, retry.ReasonNetworkError},
		{"a name server that cannot answer now", &net.DNSError{IsTemporary: true}, retry.ReasonNetworkError},
		{"a name that does not exist", &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, unknown},
		{"a wrong certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, unknown},
		{"a refusal in the TLS handshake", &net.OpError{Op: "remote error", Err: tls.AlertError(42)}, unknown},
		{"a server that speaks no TLS", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, unknown},
		{"a wrong request", errors.New(`unsupported protocol scheme "htp"`), unknown},
		{"the caller's cancellation", context.Canceled, unknown},
		{"a deadline", &net.OpError{Op: "dial", Err: context.DeadlineExceeded}, unknown},
		{"the attempt's time limit", retry.ErrAttemptTimeout, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reasonOf(c.err, retry.StageInFlight); got != c.want {
				t.Errorf("in flight: %v, want %v", got, c.want)
			}
			want := c.want
			if want != unknown {
				want = retry.ReasonConnectionFailed
			}
			if got := reasonOf(c.err, retry.StageBeforeSending); got != want {
				t.Errorf("before sending: %v, want %v", got, want)
			}
		})
	}
}

func TestTheTextOfAStatus(t *testing.T) {
	f := Judge(&http.Response{StatusCode: http.StatusServiceUnavailable})
	if got := f.Err.Error(); got != "the server answered 503 Service Unavailable" {
		t.Error(got)
	}
}
