package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	gocb "github.com/couchbase/gocb/v2"
)

var sentinels = map[string]error{
	"ErrAmbiguousTimeout":                  gocb.ErrAmbiguousTimeout,
	"ErrAuthenticationFailure":             gocb.ErrAuthenticationFailure,
	"ErrBucketExists":                      gocb.ErrBucketExists,
	"ErrBucketNotFlushable":                gocb.ErrBucketNotFlushable,
	"ErrBucketNotFound":                    gocb.ErrBucketNotFound,
	"ErrCasMismatch":                       gocb.ErrCasMismatch,
	"ErrCircuitBreakerOpen":                gocb.ErrCircuitBreakerOpen,
	"ErrCollectionExists":                  gocb.ErrCollectionExists,
	"ErrCollectionNotFound":                gocb.ErrCollectionNotFound,
	"ErrCompilationFailure":                gocb.ErrCompilationFailure,
	"ErrDatasetNotFound":                   gocb.ErrDatasetNotFound,
	"ErrDataverseNotFound":                 gocb.ErrDataverseNotFound,
	"ErrDecodingFailure":                   gocb.ErrDecodingFailure,
	"ErrDeltaInvalid":                      gocb.ErrDeltaInvalid,
	"ErrDesignDocumentNotFound":            gocb.ErrDesignDocumentNotFound,
	"ErrDocumentExists":                    gocb.ErrDocumentExists,
	"ErrDocumentLocked":                    gocb.ErrDocumentLocked,
	"ErrDocumentNotFound":                  gocb.ErrDocumentNotFound,
	"ErrDocumentNotJSON":                   gocb.ErrDocumentNotJSON,
	"ErrDocumentNotLocked":                 gocb.ErrDocumentNotLocked,
	"ErrDocumentTooDeep":                   gocb.ErrDocumentTooDeep,
	"ErrDocumentUnretrievable":             gocb.ErrDocumentUnretrievable,
	"ErrDurabilityAmbiguous":               gocb.ErrDurabilityAmbiguous,
	"ErrDurabilityImpossible":              gocb.ErrDurabilityImpossible,
	"ErrDurabilityLevelNotAvailable":       gocb.ErrDurabilityLevelNotAvailable,
	"ErrDurableWriteInProgress":            gocb.ErrDurableWriteInProgress,
	"ErrDurableWriteReCommitInProgress":    gocb.ErrDurableWriteReCommitInProgress,
	"ErrEncodingFailure":                   gocb.ErrEncodingFailure,
	"ErrFeatureNotAvailable":               gocb.ErrFeatureNotAvailable,
	"ErrIndexExists":                       gocb.ErrIndexExists,
	"ErrIndexFailure":                      gocb.ErrIndexFailure,
	"ErrIndexNotFound":                     gocb.ErrIndexNotFound,
	"ErrInternalServerFailure":             gocb.ErrInternalServerFailure,
	"ErrInvalidArgument":                   gocb.ErrInvalidArgument,
	"ErrJobQueueFull":                      gocb.ErrJobQueueFull,
	"ErrLinkNotFound":                      gocb.ErrLinkNotFound,
	"ErrMutationLost":                      gocb.ErrMutationLost,
	"ErrNoResult":                          gocb.ErrNoResult,
	"ErrNumberTooBig":                      gocb.ErrNumberTooBig,
	"ErrOverload":                          gocb.ErrOverload,
	"ErrParsingFailure":                    gocb.ErrParsingFailure,
	"ErrPathExists":                        gocb.ErrPathExists,
	"ErrPathInvalid":                       gocb.ErrPathInvalid,
	"ErrPathMismatch":                      gocb.ErrPathMismatch,
	"ErrPathNotFound":                      gocb.ErrPathNotFound,
	"ErrPathTooBig":                        gocb.ErrPathTooBig,
	"ErrPathTooDeep":                       gocb.ErrPathTooDeep,
	"ErrPlanningFailure":                   gocb.ErrPlanningFailure,
	"ErrPreparedStatementFailure":          gocb.ErrPreparedStatementFailure,
	"ErrQuotaLimitedFailure":               gocb.ErrQuotaLimitedFailure,
	"ErrRateLimitedFailure":                gocb.ErrRateLimitedFailure,
	"ErrRequestCanceled":                   gocb.ErrRequestCanceled,
	"ErrScopeExists":                       gocb.ErrScopeExists,
	"ErrScopeNotFound":                     gocb.ErrScopeNotFound,
	"ErrServiceNotAvailable":               gocb.ErrServiceNotAvailable,
	"ErrShutdown":                          gocb.ErrShutdown,
	"ErrTemporaryFailure":                  gocb.ErrTemporaryFailure,
	"ErrTimeout":                           gocb.ErrTimeout,
	"ErrUnambiguousTimeout":                gocb.ErrUnambiguousTimeout,
	"ErrUnsupportedOperation":              gocb.ErrUnsupportedOperation,
	"ErrValueInvalid":                      gocb.ErrValueInvalid,
	"ErrValueNotJSON":                      gocb.ErrValueNotJSON,
	"ErrValueTooDeep":                      gocb.ErrValueTooDeep,
	"ErrValueTooLarge":                     gocb.ErrValueTooLarge,
	"ErrViewNotFound":                      gocb.ErrViewNotFound,
	"ErrXattrCannotModifyVirtualAttribute": gocb.ErrXattrCannotModifyVirtualAttribute,
	"ErrXattrInvalidFlagCombo":             gocb.ErrXattrInvalidFlagCombo,
	"ErrXattrInvalidKeyCombo":              gocb.ErrXattrInvalidKeyCombo,
	"ErrXattrInvalidOrder":                 gocb.ErrXattrInvalidOrder,
	"ErrXattrUnknownMacro":                 gocb.ErrXattrUnknownMacro,
	"ErrXattrUnknownVirtualAttribute":      gocb.ErrXattrUnknownVirtualAttribute,
}

// printSentinels prints the text of each sentinel, and which others it matches.
func printSentinels() {
	for _, name := range slices.Sorted(maps.Keys(sentinels)) {
		var matches []string
		for _, other := range slices.Sorted(maps.Keys(sentinels)) {
			if other != name && errors.Is(sentinels[name], sentinels[other]) {
				matches = append(matches, other)
			}
		}
		line("sentinel "+name, "%q %v", sentinels[name], matches)
	}
}

var reasons = []gocb.RetryReason{gocb.KVLockedRetryReason, gocb.UnknownRetryReason}

// printErrorStructs prints each error struct with no fields but the inner error, and with all.
func printErrorStructs() {
	for _, err := range []error{
		gocb.KeyValueError{InnerError: gocb.ErrDocumentNotFound},
		&gocb.KeyValueError{InnerError: gocb.ErrDocumentNotFound},
		gocb.KeyValueError{
			InnerError: gocb.ErrDocumentLocked, StatusCode: 9, DocumentID: "id", BucketName: "b", ScopeName: "s", CollectionName: "c",
			CollectionID: 8, ErrorName: "LOCKED", ErrorDescription: "desc", Opaque: 7, Context: "ctx", Ref: "ref", RetryReasons: reasons, RetryAttempts: 3,
			LastDispatchedTo: "to", LastDispatchedFrom: "from", LastConnectionID: "conn",
		},
		gocb.TimeoutError{InnerError: gocb.ErrUnambiguousTimeout},
		gocb.TimeoutError{
			InnerError: gocb.ErrAmbiguousTimeout, OperationID: "Get", Opaque: "0x7", TimeObserved: 2500 * time.Millisecond, RetryReasons: reasons,
			RetryAttempts: 3, LastDispatchedTo: "to", LastDispatchedFrom: "from", LastConnectionID: "conn",
		},
		gocb.HTTPError{InnerError: gocb.ErrBucketNotFound},
		gocb.HTTPError{
			InnerError: gocb.ErrBucketNotFound, UniqueID: "u", Endpoint: "e", RetryReasons: reasons, RetryAttempts: 2, ErrorText: "text", StatusCode: 404,
		},
		gocb.QueryError{InnerError: gocb.ErrParsingFailure},
		gocb.QueryError{
			InnerError: gocb.ErrParsingFailure, Statement: "select", ClientContextID: "cid",
			Errors: []gocb.QueryErrorDesc{
				{Code: 3000, Message: "syntax", Retry: true, Reason: map[string]any{"code": 1}}, {Code: 1, Message: "m"},
			},
			Endpoint: "ep", RetryReasons: reasons, RetryAttempts: 2, ErrorText: "text", HTTPStatusCode: 400,
		},
		gocb.AnalyticsError{InnerError: gocb.ErrParsingFailure},
		gocb.AnalyticsError{
			InnerError: gocb.ErrParsingFailure, Statement: "select", ClientContextID: "cid", Errors: []gocb.AnalyticsErrorDesc{{Code: 3000, Message: "m"}},
			Endpoint: "ep", RetryReasons: reasons, RetryAttempts: 2, ErrorText: "text", HTTPStatusCode: 400,
		},
		gocb.SearchError{InnerError: gocb.ErrIndexNotFound},
		gocb.SearchError{
			InnerError: gocb.ErrIndexNotFound, Query: map[string]any{"a": 1}, Endpoint: "ep", RetryReasons: reasons, RetryAttempts: 2, ErrorText: "text",
			IndexName: "idx", HTTPStatusCode: 400,
		},
		gocb.ViewError{InnerError: gocb.ErrViewNotFound},
		gocb.ViewError{
			InnerError: gocb.ErrViewNotFound, DesignDocumentName: "dd", ViewName: "vn", Errors: []gocb.ViewErrorDesc{{SourceNode: "n", Message: "m"}},
			Endpoint: "ep", RetryReasons: reasons, RetryAttempts: 2, ErrorText: "text", HTTPStatusCode: 400,
		},
		gocb.GenericError{InnerError: gocb.ErrViewNotFound},
		gocb.GenericError{InnerError: gocb.ErrViewNotFound, Context: map[string]any{"a": 1, "b": "some text"}},
	} {
		name := strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", err), "*"), "gocb.")
		name = strings.TrimPrefix(name, "couchbase.")
		text, details, _ := strings.Cut(err.Error(), " | ")
		kind := "full"
		if details == "{}" || details == `{"error_text":""}` {
			kind = "empty"
		}
		if strings.HasPrefix(fmt.Sprintf("%T", err), "*") {
			kind += " pointer"
		}
		b, marshalErr := json.Marshal(err)
		line("text of "+kind+" "+name, "%s | %s", text, canonical(details))
		line("JSON of "+kind+" "+name, "%s %s", canonical(string(b)), failed(marshalErr))
		line("unwrapped "+kind+" "+name, "%v", errors.Unwrap(err))
	}
}
