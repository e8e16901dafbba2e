package rules

import (
	"slices"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// codeRule has the codes of a service for one reason. A code is one of the service's errors or an HTTP status.
type codeRule struct {
	service couchbaseService
	codes   []uint32
	reason  retry.Reason
}

var codeRules = []codeRule{
	{query, []uint32{4040, 4050, 4060, 4070, 4080, 4090}, couchbasereason.QueryPreparedStatementFailure},
	{query, []uint32{1080, 1191, 3000, 4300, 5000, 12004, 12009, 13014}, retry.ReasonUnknown},
	{analytics, []uint32{23000, 23003, 23007}, couchbasereason.AnalyticsTemporaryFailure},
	{analytics, []uint32{20000, 21002, 24000, 24045, 25000}, retry.ReasonUnknown},
	{search, []uint32{429}, couchbasereason.SearchTooManyRequests},
	{search, []uint32{400, 401, 403, 404, 500, 503}, retry.ReasonUnknown},
	{views, []uint32{300, 301, 303, 307, 408, 409, 412, 416, 417, 500, 501, 502, 503, 504}, couchbasereason.ViewsTemporaryFailure},
	{views, []uint32{302}, couchbasereason.ViewsNoActivePartition},
	{views, []uint32{400, 401, 403, 404}, retry.ReasonUnknown},
	{management, []uint32{503}, retry.ReasonServiceResponseCodeIndicated},
	{management, []uint32{400, 401, 403, 404, 405, 429, 500, 501}, retry.ReasonUnknown},
}

// CouchbaseCodes returns the codes and HTTP statuses of an operation's service that the rules name.
func CouchbaseCodes(o CouchbaseOperation) []uint32 {
	var all []uint32
	for _, r := range codeRules {
		if r.service == o.service {
			all = append(all, r.codes...)
		}
	}
	return all
}

// reasonOfCode returns the reason of a code without regard to its text. The cluster manager's 503 is temporary for reads only.
func reasonOfCode(o CouchbaseOperation, code uint32) retry.Reason {
	if o.service == management && !o.idempotent {
		return retry.ReasonUnknown
	}
	for _, r := range codeRules {
		if r.service == o.service && slices.Contains(r.codes, code) {
			return r.reason
		}
	}
	return retry.ReasonUnknown
}
