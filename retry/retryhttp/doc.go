// Package retryhttp retries HTTP requests when that is safe. A [Transport] is an http.RoundTripper, so an http.Client can use it:
//
//	engine, err := retry.New(retry.Options{Strategy: retry.Limited(5, retry.BestEffort(retry.BackoffOptions{}))})
//	...
//	transport, err := retryhttp.NewTransport(retryhttp.Options{Engine: engine})
//	...
//	client := &http.Client{Transport: transport}
//
// The transport tells the engine of each attempt:
//
//   - the idempotency of the request, by its method: GET, HEAD, OPTIONS and TRACE are read only; PUT and DELETE are idempotent;
//     every other method is idempotent if the request has an Idempotency-Key or X-Idempotency-Key header (RFC 9110, section
//     9.2; the headers are those of net/http);
//   - how far it came: nothing was sent if no connection was obtained. A connection that was obtained counts as written to,
//     because net/http writes in a goroutine of its own;
//   - why it failed: by the network, or by the status of the response ([Judge]);
//   - how long the server asked to wait, by the Retry-After header in both of its forms ([RetryAfter]).
//
// # The end
//
// If the retries end on a response, the caller gets this response, as without retries: its body is unread. If they end on an error,
// or the context ends, the caller gets a [*retry.Error] with every attempt; an http.Client wraps it in its *url.Error.
//
// # Bodies
//
// A request's body is sent again by means of GetBody, which http.NewRequest sets for the usual readers. A request whose body has
// no GetBody is not retried after a connection was obtained or the body was read; the stop reason is then [retry.StopNotReplayable].
//
// Of a response that is followed by another attempt, the body is read up to 64 KiB, so that its connection can be used again, and
// closed.
package retryhttp
