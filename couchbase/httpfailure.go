package couchbase

import (
	"errors"
	"net"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/services"
)

// kindErrors has the sentinel of each kind of error of an HTTP service; nil where there is none.
var kindErrors = [...]error{
	services.KindOther:                    nil,
	services.KindAmbiguousTimeout:         ErrAmbiguousTimeout,
	services.KindUnambiguousTimeout:       ErrUnambiguousTimeout,
	services.KindRequestCancelled:         ErrRequestCanceled,
	services.KindServiceNotAvailable:      ErrServiceNotAvailable,
	services.KindFeatureNotAvailable:      ErrFeatureNotAvailable,
	services.KindUnsupportedOperation:     ErrUnsupportedOperation,
	services.KindAuthenticationFailure:    ErrAuthenticationFailure,
	services.KindInvalidArgument:          ErrInvalidArgument,
	services.KindEncodingFailure:          ErrEncodingFailure,
	services.KindInternalServerFailure:    ErrInternalServerFailure,
	services.KindTemporaryFailure:         ErrTemporaryFailure,
	services.KindRateLimited:              ErrRateLimitedFailure,
	services.KindQuotaLimited:             ErrQuotaLimitedFailure,
	services.KindParsingFailure:           ErrParsingFailure,
	services.KindPlanningFailure:          ErrPlanningFailure,
	services.KindCompilationFailure:       ErrCompilationFailure,
	services.KindPreparedStatementFailure: ErrPreparedStatementFailure,
	services.KindIndexFailure:             ErrIndexFailure,
	services.KindIndexNotFound:            ErrIndexNotFound,
	services.KindIndexExists:              ErrIndexExists,
	services.KindCASMismatch:              ErrCasMismatch,
	services.KindDocumentNotFound:         ErrDocumentNotFound,
	services.KindDocumentExists:           ErrDocumentExists,
	services.KindJobQueueFull:             ErrJobQueueFull,
	services.KindDatasetNotFound:          ErrDatasetNotFound,
	services.KindDataverseNotFound:        ErrDataverseNotFound,
	services.KindLinkNotFound:             ErrLinkNotFound,
	services.KindViewNotFound:             ErrViewNotFound,
	services.KindDesignDocumentNotFound:   ErrDesignDocumentNotFound,
	services.KindBucketNotFound:           ErrBucketNotFound,
	services.KindBucketExists:             ErrBucketExists,
	services.KindBucketNotFlushable:       ErrBucketNotFlushable,
	services.KindScopeNotFound:            ErrScopeNotFound,
	services.KindScopeExists:              ErrScopeExists,
	services.KindCollectionNotFound:       ErrCollectionNotFound,
	services.KindCollectionExists:         ErrCollectionExists,
	services.KindClosed:                   ErrShutdown,
}

// serviceError has its name so that httpFailure can have the method Error.
type serviceError = services.Error

// httpFailure is the inner error of the operations on HTTP services. It matches the sentinel of what happened; of a timeout, also
// that of the last cause.
type httpFailure struct {
	*serviceError
	sentinels []error
}

// Unwrap returns the sentinels and the error with its history.
func (f *httpFailure) Unwrap() []error {
	return append(f.sentinels[:len(f.sentinels):len(f.sentinels)], f.serviceError)
}

// failureOf returns the error of an operation on an HTTP service as an inner error, and what it knows; both nil without an error.
func failureOf(err error) *httpFailure {
	var e *services.Error
	if !errors.As(err, &e) {
		e = &services.Error{Err: err}
	}
	f := &httpFailure{serviceError: e}
	for _, kind := range []services.ErrorKind{e.Kind, e.Cause} {
		if sentinel := kindErrors[kind]; sentinel != nil {
			f.sentinels = append(f.sentinels, sentinel)
		}
	}
	return f
}

// retryReasons returns why there were retries.
func (f *httpFailure) retryReasons() []RetryReason {
	var all []RetryReason
	for _, r := range f.Reasons {
		all = append(all, retryReason{r})
	}
	return all
}

// status returns the HTTP status of the last answer, 0 without one.
func (f *httpFailure) status() int {
	if f.Answer == nil {
		return 0
	}
	return f.Answer.Status
}

// text returns the body of the last answer, if it is no list of errors.
func (f *httpFailure) text() string {
	if f.Answer == nil || len(f.Answer.Entries) > 0 {
		return ""
	}
	return f.Answer.Text
}

func (f *httpFailure) entries() []services.Entry {
	if f.Answer == nil {
		return nil
	}
	return f.Answer.Entries
}

// outcome is the result of an operation in measurements: "Success", or the name of its sentinel in one word.
func outcome(err error) string {
	if err == nil {
		return outcomeSuccess
	}
	var f *httpFailure
	if !errors.As(err, &f) || len(f.sentinels) == 0 {
		return outcomeOther
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(f.Kind.String()) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func hostOf(address string) string {
	host, _, _ := net.SplitHostPort(address)
	return host
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
