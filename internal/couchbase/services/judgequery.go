package services

import (
	"strings"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// judgeQuery is the table of the query service. The first entry decides.
func judgeQuery(r *Request, a *Answer) (verdict, bool) {
	if len(a.Entries) == 0 {
		return judgeStatus(r, a)
	}
	first := &a.Entries[0]
	v := verdict{kind: queryKind(first)}
	switch {
	case first.Code == 1080:
		// The service's own timeout. RFC 0058: a statement that may have changed something is ambiguous.
		if r.Idempotency == retry.ReadOnly {
			v.kind = KindUnambiguousTimeout
		} else {
			v.kind, v.unsettled = KindAmbiguousTimeout, true
		}
	case isPreparedCode(first.Code):
		v.reason = couchbasereason.QueryPreparedStatementFailure
	case first.Code == 5000 && strings.Contains(first.Message, "queryport.indexNotFound"):
		v.reason = couchbasereason.QueryIndexNotFound
	case first.Retry && first.Code != 12016:
		v.reason = retry.ReasonServiceResponseCodeIndicated
	default:
		v.unsettled = mayHaveRun(first.Code)
	}
	return v, true
}

// isPreparedCode reports whether the service does not know, or cannot use, the prepared statement.
func isPreparedCode(code uint32) bool {
	switch code {
	case 4040, 4050, 4060, 4070, 4080, 4090:
		return true
	default:
		return false
	}
}

// mayHaveRun reports whether a statement whose answer has this code can have changed something before it failed.
func mayHaveRun(code uint32) bool {
	switch code / 1000 {
	case 1, 2, 3, 4, 10: // service, administration, parsing, planning, authorization: all before the execution
		return false
	default:
		return code != 13014
	}
}

// queryKind is the meaning of an entry's code.
func queryKind(e *Entry) ErrorKind {
	switch c := e.Code; {
	case c == 1065 || c == 1197:
		return KindFeatureNotAvailable
	case c >= 1191 && c <= 1194:
		return KindRateLimited
	case c == 5000 && strings.Contains(strings.ToLower(e.Message), "limit for number of indexes that can be created per scope has been reached"):
		return KindQuotaLimited
	case c >= 3000 && c < 4000:
		return KindParsingFailure
	case isPreparedCode(c):
		return KindPreparedStatementFailure
	case c == 4300 || c == 5000 && strings.Contains(e.Message, "already exists"):
		return KindIndexExists
	case c >= 4000 && c < 5000:
		return KindPlanningFailure
	case c == 12004 || c == 12016 || c == 5000 && isIndexNotFound(e.Message):
		return KindIndexNotFound
	case c >= 5000 && c < 6000:
		return KindInternalServerFailure
	case c == 12009:
		return dmlKind(e)
	case c >= 12000 && c < 13000 || c >= 14000 && c < 15000:
		return KindIndexFailure
	case c == 2120 || c == 13014 || c >= 10000 && c < 11000:
		return KindAuthenticationFailure
	default:
		return KindOther
	}
}

func isIndexNotFound(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "index") && strings.Contains(m, "not found") || strings.Contains(message, "queryport.indexNotFound")
}

// dmlKind is the meaning of an error in changing documents: the key-value error stands in the reason.
func dmlKind(e *Entry) ErrorKind {
	code, _ := e.Reason["code"].(float64)
	switch {
	case code == 12033 || strings.Contains(strings.ToLower(e.Message), "cas mismatch"):
		return KindCASMismatch
	case code == 17014:
		return KindDocumentNotFound
	case code == 17012:
		return KindDocumentExists
	default:
		return KindOther
	}
}

// judgeStatus judges an answer that names no error of the service by its HTTP status alone.
func judgeStatus(r *Request, a *Answer) (verdict, bool) {
	switch {
	case a.Status >= 200 && a.Status < 300:
		return verdict{}, false
	case a.Status == 401 || a.Status == 403:
		return verdict{kind: KindAuthenticationFailure}, true
	default:
		return verdict{kind: KindOther, unsettled: a.Status >= 500 && r.Idempotency == retry.NotIdempotent}, true
	}
}
