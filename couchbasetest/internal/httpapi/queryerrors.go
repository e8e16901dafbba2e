package httpapi

import (
	"net/http"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// queryStatuses are the HTTP statuses of the query service's errors. Others are 500 if they come before the execution, else 200.
var queryStatuses = map[int]int{
	1000: http.StatusForbidden,
	1020: http.StatusMethodNotAllowed,
	1040: http.StatusBadRequest,
	1050: http.StatusBadRequest,
	1060: http.StatusBadRequest,
	1065: http.StatusBadRequest,
	1070: http.StatusBadRequest,
	1080: http.StatusRequestTimeout,
	1090: http.StatusBadRequest,
	1120: http.StatusNotAcceptable,
	1191: http.StatusTooManyRequests,
	1192: http.StatusTooManyRequests,
	1193: http.StatusTooManyRequests,
	1194: http.StatusTooManyRequests,
	3000: http.StatusBadRequest,
	4040: http.StatusNotFound,
	4300: http.StatusConflict,
	5000: http.StatusInternalServerError,

	10000: http.StatusUnauthorized,
	13014: http.StatusUnauthorized,
}

// problemStatus returns the HTTP status of an answer with an error, and the word for the field "status".
func problemStatus(service clustermap.Service, code int) (status int, word string) {
	if service == clustermap.Analytics {
		return analyticsStatus(code)
	}
	status, word = http.StatusInternalServerError, "fatal"
	if code == 1080 {
		word = "timeout"
	} else if code >= 12000 {
		status, word = http.StatusOK, "errors"
	}
	if known := queryStatuses[code]; known != 0 {
		status = known
	}
	return status, word
}

// analyticsStatus does the same for the analytics service.
func analyticsStatus(code int) (status int, word string) {
	switch {
	case code == 21002:
		return http.StatusOK, "timeout"
	case code/1000 == 20:
		return http.StatusUnauthorized, "fatal"
	case code/1000 == 23:
		return http.StatusServiceUnavailable, "fatal"
	case code/1000 == 25:
		return http.StatusInternalServerError, "fatal"
	}
	return http.StatusBadRequest, "fatal"
}

// problemFields returns an error as a service writes it.
func problemFields(service clustermap.Service, all []Problem) []any {
	out := make([]any, len(all))
	for i, p := range all {
		if !p.Retry {
			out[i] = p
			continue
		}
		if service == clustermap.Analytics {
			out[i] = struct {
				Problem
				Retriable bool `json:"retriable"`
			}{p, true}
		} else {
			out[i] = struct {
				Problem
				Retry bool `json:"retry"`
			}{p, true}
		}
	}
	return out
}
