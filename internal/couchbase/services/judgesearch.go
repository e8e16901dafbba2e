package services

import (
	"strings"

	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// searchLimits are the texts by which an answer of 429 says that the caller's rate is limited, so that it is not retried.
var searchLimits = [...]string{"num_concurrent_requests", "num_queries_per_min", "ingress_mib_per_min", "egress_mib_per_min"}

// judgeSearch is the table of the search service. With status 200, hits from only a part of the index are no error.
func judgeSearch(r *Request, a *Answer) (verdict, bool) {
	switch a.Status {
	case 429:
		for _, limit := range searchLimits {
			if strings.Contains(a.Text, limit) {
				return verdict{kind: KindRateLimited}, true
			}
		}
		return verdict{kind: KindOther, reason: couchbasereason.SearchTooManyRequests}, true
	case 400:
		switch {
		case strings.Contains(a.Text, "index not found"):
			return verdict{kind: KindIndexNotFound}, true
		case strings.Contains(a.Text, "num_fts_indexes"):
			return verdict{kind: KindQuotaLimited}, true
		}
		return verdict{kind: KindOther}, true
	case 500:
		return verdict{kind: KindInternalServerFailure}, true
	default:
		return judgeStatus(r, a)
	}
}

// judgeSearchIndexes is the table of the requests for search indexes.
func judgeSearchIndexes(r *Request, a *Answer) (verdict, bool) {
	if v, bad := judgeSearch(r, a); bad && v.kind != KindOther {
		return v, true
	}
	return judgeManagement(r, a)
}
