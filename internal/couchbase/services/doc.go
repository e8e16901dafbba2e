// Package services sends requests to the HTTP services of a Couchbase cluster: query, analytics, search, views and management.
//
// A request runs on the engine of package retry, with the delays capped to the deadline (RFC 0049). Each attempt goes to a random
// node that offers the service, and its answer is judged by the table of that service: judgequery.go, judgeanalytics.go,
// judgesearch.go, judgeviews.go and judgemanagement.go. Rows are read one by one; an operation that delivered a row is never
// repeated. Net/http repeats no request on its own, and follows no redirect: only the engine repeats.
//
// The sources of the rules are Couchbase's RFCs 0049 and 0058 and the public documentation of the services.
package services
