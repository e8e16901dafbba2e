package retryhttp

import (
	"net/http"

	"github.com/holdfast-db/holdfast/retry"
)

// effectOf returns the effect of a request by its method (RFC 9110, section 9.2). Of another method it is idempotent if the
// client gave it a key by which the server recognises repetitions.
func effectOf(r *http.Request) retry.Effect {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return retry.EffectReadOnly
	case http.MethodPut, http.MethodDelete:
		return retry.EffectIdempotent
	}
	// net/http takes a key without a value, which is not sent, as the caller's word that the request is idempotent.
	if _, ok := r.Header["Idempotency-Key"]; ok {
		return retry.EffectIdempotent
	}
	if _, ok := r.Header["X-Idempotency-Key"]; ok {
		return retry.EffectIdempotent
	}
	return retry.EffectNotIdempotent
}
