package retryhttp

import (
	"net/http"

	"github.com/holdfast-db/holdfast/retry"
)

// idempotencyOf returns the idempotency of a request by its method (RFC 9110, section 9.2). Of another method it is idempotent if the
// client gave it a key by which the server recognises repetitions.
func idempotencyOf(r *http.Request) retry.Idempotency {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return retry.ReadOnly
	case http.MethodPut, http.MethodDelete:
		return retry.Idempotent
	}
	// net/http takes a key without a value, which is not sent, as the caller's word that the request is idempotent.
	if _, ok := r.Header["Idempotency-Key"]; ok {
		return retry.Idempotent
	}
	if _, ok := r.Header["X-Idempotency-Key"]; ok {
		return retry.Idempotent
	}
	return retry.NotIdempotent
}
