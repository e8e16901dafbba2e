package services

import (
	"net/http"
	"strings"

	"github.com/holdfast-db/holdfast/retry"
)

// judgeManagement is the table of the cluster manager and of the management requests of the services. The cluster manager
// says what went wrong only in words.
func judgeManagement(r *Request, a *Answer) (verdict, bool) {
	text := strings.ToLower(a.Text)
	switch a.Status {
	case 503:
		if r.Method == http.MethodGet {
			return verdict{kind: KindTemporaryFailure, reason: retry.ReasonServiceResponseCodeIndicated}, true
		}
		return verdict{kind: KindTemporaryFailure, unsettled: true}, true
	case 429:
		if strings.Contains(text, "maximum number of collections has been reached") {
			return verdict{kind: KindQuotaLimited}, true
		}
		return verdict{kind: KindRateLimited}, true
	case 400, 404:
		return verdict{kind: managementKind(a.Status, text)}, true
	case 405, 501:
		return verdict{kind: KindFeatureNotAvailable}, true
	default:
		return judgeStatus(r, a)
	}
}

// managementKind is the meaning of an answer's text, which is in lower case.
func managementKind(status int, text string) ErrorKind {
	exists := strings.Contains(text, "already exists")
	missing := strings.Contains(text, "not found")
	switch {
	case strings.Contains(text, "flush is disabled"):
		return KindBucketNotFlushable
	case exists && strings.Contains(text, "collection"):
		return KindCollectionExists
	case exists && strings.Contains(text, "scope"):
		return KindScopeExists
	case exists && strings.Contains(text, "bucket"):
		return KindBucketExists
	case missing && strings.Contains(text, "collection"):
		return KindCollectionNotFound
	case missing && strings.Contains(text, "scope"):
		return KindScopeNotFound
	case missing && strings.Contains(text, "index"):
		return KindIndexNotFound
	case missing && strings.Contains(text, "requested resource"):
		return KindBucketNotFound
	case strings.Contains(text, "maximum number of collections has been reached"):
		return KindQuotaLimited
	case status == http.StatusBadRequest:
		return KindInvalidArgument
	default:
		return KindOther
	}
}
