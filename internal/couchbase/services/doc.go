// Package services sends requests to the HTTP services of a Couchbase cluster: query, analytics, search, views and management.
//
// A request runs on the engine of package retry, with the delays capped to the deadline (RFC 0049). Each attempt goes to a random
// node that offers the service, and its answer is judged by the table of that service: judgequery.go, judgeanalytics.go,
// judgesearch.go, judgeviews.go and judgemanagement.go. Rows are read one by one; an operation that delivered a row is never
// repeated. Net/http repeats no request on its own, and follows no redirect: only the engine repeats.
//
// The sources of the rules are Couchbase's RFCs 0049 and 0058 and the public documentation of the services.
//
// # Not obvious
//
//   - An attempt is an exchange (exchange.go). Its connection knows whether a byte of the request was
//     written, and is sealed when the request is given up before that: net/http writes in a goroutine of its own, and would still
//     send what was reported as not sent.
//   - A request has a body without GetBody, also a GET: so net/http never repeats a request by itself, and each retry is one of
//     the engine's.
//   - A failure is retried until the first row is there. An answer is read up to its first row within the attempt, so an error
//     that stands before the rows is still retried, and one that stands after them is the result's error.
//   - life is the context of an operation: its deadline is that of the attempts, and each call of Rows.Next moves its end, so
//     that a long result may take longer than the timeout, and one that stands still, or that nobody closes, ends.
//   - A goroutine for each exchange watches the map, and ends the exchange when its node leaves.
//   - The cache of prepared statements is bounded in statements and bytes. What the service no longer knows leaves it before the
//     retry, which prepares again.
package services
