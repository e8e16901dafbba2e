package httpapi

import (
	"fmt"
	"net/http"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// The limits of a user that a service enforces.
const (
	LimitConcurrent = "num_concurrent_requests"
	LimitPerMinute  = "num_queries_per_min"
	LimitIngress    = "ingress_mib_per_min"
	LimitEgress     = "egress_mib_per_min"
	// LimitIndexes is the number of search indexes: a quota, not a rate.
	LimitIndexes = "num_fts_indexes"
)

// queryLimits is the errors of the query service for a limit.
var queryLimits = map[string]Problem{
	LimitConcurrent: {Code: 1191, Message: "User has more requests running than allowed"},
	LimitPerMinute:  {Code: 1192, Message: "User has exceeded request rate limit"},
	LimitIngress:    {Code: 1193, Message: "User has exceeded input network traffic limit"},
	LimitEgress:     {Code: 1194, Message: "User has exceeded results size limit"},
}

// LimitExceeded returns the fault of a user who has exceeded a limit of a service.
func LimitExceeded(service clustermap.Service, limit string) Fault {
	problem, known := queryLimits[limit]
	switch {
	case service == clustermap.Query && known:
		return Fault{Status: http.StatusTooManyRequests, Body: fmt.Sprintf(
			`{"requestID":"","errors":[{"code":%d,"msg":%q}],"status":"fatal"}`, problem.Code, problem.Message,
		)}
	case service == clustermap.Search && limit == LimitIndexes:
		return Fault{Status: http.StatusBadRequest, Body: fmt.Sprintf(
			`{"error":"rest_create_index: limit exceeded: %s","status":"fail"}`, limit,
		)}
	case service == clustermap.Search:
		return Fault{Status: http.StatusTooManyRequests, Body: fmt.Sprintf(`{"error":"limit exceeded: %s","status":"fail"}`, limit)}
	}
	return Fault{Status: http.StatusTooManyRequests, Body: fmt.Sprintf("Limit(s) exceeded [%s]", limit)}
}
