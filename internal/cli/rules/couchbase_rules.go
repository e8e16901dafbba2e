package rules

import (
	"slices"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

const rfc49 = "Couchbase RFC 0049, SDK retry handling"

// The rules of Couchbase that do not belong to one reason.
var (
	couchbaseFinal = Rule{
		"couchbase.final", "An answer that gives no reason for a retry is final, whatever the strategy says. Its reason is UNKNOWN.", rfc49 + ", Reasons",
	}
	couchbaseDeclined = Rule{
		"couchbase.strategy", "A retry for a reason that is not always retried happens only if the operation's strategy asks for it.",
		rfc49 + ", Retry Orchestrator",
	}
	couchbaseNotIdempotent = Rule{
		"couchbase.not-idempotent", "An operation that is not idempotent is not sent again if its connection was lost after sending, because it may " +
			"have been applied.",
		rfc49 + ", Idempotency",
	}
)

// reasonRule is a reason, which rule it has, and the services whose operations meet it.
type reasonRule struct {
	reason   retry.Reason
	sentence string
	services []couchbaseService
}

var anyService = []couchbaseService{keyValue, query, analytics, search, views, management}

var reasonRules = []reasonRule{
	{couchbasereason.SocketNotAvailable, "If there is no usable connection to the node, nothing was sent: every operation is retried.", anyService},
	{couchbasereason.ServiceNotAvailable, "If no node has the service, nothing was sent: every operation is retried.", anyService[1:5]},
	{couchbasereason.NodeNotAvailable, "If the node is not there, nothing was sent: every operation is retried.", anyService[:1]},
	{couchbasereason.KVNotMyVBucket, "A node that does not own the vbucket (status 0x07) did nothing: every operation is always retried, whatever the strategy says.", anyService[:1]},
	{couchbasereason.KVCollectionOutdated, "A node that does not know the collection (status 0x88) did nothing: every operation is always retried, whatever the strategy says.", anyService[:1]},
	{couchbasereason.KVErrorMapRetryIndicated, "A status that the client leaves to the server's error map is retried if the map says so.", anyService[:1]},
	{couchbasereason.KVLocked, "A locked document (status 0x09) was not changed: every operation but unlock is retried.", anyService[:1]},
	{couchbasereason.KVTemporaryFailure, "A node with a temporary failure (status 0x86) did nothing: every operation is retried.", anyService[:1]},
	{couchbasereason.KVSyncWriteInProgress, "While a durable write of the document is in progress (status 0xa2) nothing is done: every operation is retried.", anyService[:1]},
	{couchbasereason.KVSyncWriteReCommitInProgress, "While a durable write of the document is committed again (status 0xa4) nothing is done: every operation is retried.", anyService[:1]},
	{couchbasereason.KVConfigOnly, "A node without documents (status 0x0d) did nothing: every operation is always retried, whatever the strategy says.", anyService[:1]},
	{retry.ReasonServiceResponseCodeIndicated, "A query error with retry: true, and the answer 503 to a GET of the cluster manager, mean a temporary trouble: the operation is retried.", []couchbaseService{query, management}},
	{couchbasereason.SocketClosedInFlight, "If the connection is lost after sending, only an idempotent operation is retried.", anyService},
	{retry.ReasonCircuitBreakerOpen, "If the breaker of the node is open, nothing was sent: every operation is retried.", anyService[:1]},
	{couchbasereason.QueryPreparedStatementFailure, "If the query service no longer knows the prepared statement (4040, 4050, 4060, 4070, 4080, 4090), nothing was executed: the query is retried.", []couchbaseService{query}},
	{couchbasereason.QueryIndexNotFound, "If the query service does not see the index yet (5000 with queryport.indexNotFound), the query is retried.", []couchbaseService{query}},
	{couchbasereason.AnalyticsTemporaryFailure, "If the analytics service cannot serve the request at the moment (23000, 23003, 23007), it is retried.", []couchbaseService{analytics}},
	{couchbasereason.SearchTooManyRequests, "If the search service has too many requests (HTTP 429), the search is retried, unless the text names a limit of the caller's rate.", []couchbaseService{search}},
	{couchbasereason.ViewsTemporaryFailure, "HTTP 300, 301, 303, 307, 408, 409, 412, 416, 417, 500 to 504 of the views service mean a temporary failure: the view is read again.", []couchbaseService{views}},
	{couchbasereason.ViewsNoActivePartition, "A node without an active partition of the view (HTTP 302) is always asked again, whatever the strategy says.", []couchbaseService{views}},
}

func (r *reasonRule) rule() Rule {
	return Rule{"couchbase." + r.reason.String(), r.sentence, rfc49 + ", " + r.reason.String()}
}

var couchbaseRules = func() []Rule {
	all := []Rule{couchbaseFinal, couchbaseDeclined, couchbaseNotIdempotent}
	for i := range reasonRules {
		all = append(all, reasonRules[i].rule())
	}
	return all
}()

// CouchbaseReasons returns the reasons that an operation can meet. The cluster manager's 503 is temporary for reads only.
func CouchbaseReasons(o CouchbaseOperation) []retry.Reason {
	var list []retry.Reason
	for _, r := range reasonRules {
		changes := r.reason == retry.ReasonServiceResponseCodeIndicated && o.service == management && !o.idempotent
		unlocks := r.reason == couchbasereason.KVLocked && o.Name == "unlock"
		if slices.Contains(r.services, o.service) && !changes && !unlocks {
			list = append(list, r.reason)
		}
	}
	return list
}
