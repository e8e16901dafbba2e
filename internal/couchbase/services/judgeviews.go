package services

import (
	"strings"

	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// judgeViews is the table of the views service: by the HTTP status, and by texts of the answer.
func judgeViews(r *Request, a *Answer) (verdict, bool) {
	kind := KindOther
	if a.Status == 404 || strings.Contains(a.Text, `"not_found"`) {
		kind = KindViewNotFound
	}
	temporary := verdict{kind: kind, reason: couchbasereason.ViewsTemporaryFailure}
	switch a.Status {
	case 302: // it stands in both of RFC 0049's lists; the reason that is always retried wins
		return verdict{kind: kind, reason: couchbasereason.ViewsNoActivePartition}, true
	case 300, 301, 303, 307, 408, 409, 412, 416, 417, 501, 502, 503, 504:
		return temporary, true
	case 404:
		if strings.Contains(a.Text, `"reason":"missing"`) {
			return temporary, true
		}
		return verdict{kind: kind}, true
	case 500:
		if isFinalViewError(a.Text) {
			return verdict{kind: kind}, true
		}
		return temporary, true
	default:
		return judgeStatus(r, a)
	}
}

// isFinalViewError reports whether an answer of 500 names an error of the view itself.
func isFinalViewError(text string) bool {
	return strings.Contains(text, `"error"`) &&
		(strings.Contains(text, "{not_found, missing_named_view}") || strings.Contains(text, `"badarg"`))
}

// judgeDesignDocuments is the table of the requests for design documents.
func judgeDesignDocuments(r *Request, a *Answer) (verdict, bool) {
	if a.Status == 404 {
		return verdict{kind: KindDesignDocumentNotFound}, true
	}
	return judgeManagement(r, a)
}
