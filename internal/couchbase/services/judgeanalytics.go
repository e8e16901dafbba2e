package services

import (
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// judgeAnalytics is the table of the analytics service. The first entry decides, also with HTTP status 200.
func judgeAnalytics(r *Request, a *Answer) (verdict, bool) {
	if len(a.Entries) == 0 {
		return judgeStatus(r, a)
	}
	first := &a.Entries[0]
	v := verdict{kind: analyticsKind(first.Code)}
	switch first.Code {
	case 23000, 23003, 23007:
		v.reason = couchbasereason.AnalyticsTemporaryFailure
	case 21002: // the service's own timeout
		if r.Idempotency == retry.ReadOnly {
			v.kind = KindUnambiguousTimeout
		} else {
			v.unsettled = true
		}
	default:
		v.unsettled = first.Code >= 25000
	}
	return v, true
}

func analyticsKind(code uint32) ErrorKind {
	switch code {
	case 21002:
		return KindAmbiguousTimeout
	case 23000, 23003:
		return KindTemporaryFailure
	case 23007:
		return KindJobQueueFull
	case 24000:
		return KindParsingFailure
	case 24006:
		return KindLinkNotFound
	case 24025, 24044, 24045:
		return KindDatasetNotFound
	case 24034:
		return KindDataverseNotFound
	case 24039:
		return KindDataverseExists
	case 24040:
		return KindDatasetExists
	case 24047:
		return KindIndexNotFound
	case 24048:
		return KindIndexExists
	}
	switch {
	case code >= 20000 && code < 21000:
		return KindAuthenticationFailure
	case code >= 24000 && code < 25000:
		return KindCompilationFailure
	case code >= 25000 && code < 26000:
		return KindInternalServerFailure
	default:
		return KindOther
	}
}
