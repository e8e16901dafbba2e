package couchbase_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// Each error struct has a text, JSON and an inner error. The comparison with gocb is in interop/couchbase/compare.
func TestErrorStructs(t *testing.T) {
	reasons := []couchbase.RetryReason{couchbase.KVLockedRetryReason, couchbase.UnknownRetryReason}
	for _, c := range []struct {
		err     error
		inner   error
		details string
	}{
		{
			couchbase.KeyValueError{InnerError: couchbase.ErrDocumentLocked, StatusCode: 9, DocumentID: "id", RetryReasons: reasons},
			couchbase.ErrDocumentLocked,
			`"status_code":9,"document_id":"id","retry_reasons":["KV_LOCKED","UNKNOWN"]`,
		},
		{
			couchbase.TimeoutError{InnerError: couchbase.ErrAmbiguousTimeout, OperationID: "Set", TimeObserved: time.Second},
			couchbase.ErrTimeout,
			`"operation_id":"Set","time_observed":1000000`,
		},
		{couchbase.HTTPError{InnerError: couchbase.ErrBucketNotFound, StatusCode: 404}, couchbase.ErrBucketNotFound, `"status_code":404`},
		{
			couchbase.QueryError{InnerError: couchbase.ErrParsingFailure, Errors: []couchbase.QueryErrorDesc{{Code: 3000, Message: "m"}}},
			couchbase.ErrParsingFailure, `"errors":[{"code":3000,"message":"m"}]`,
		},
		{couchbase.AnalyticsError{InnerError: couchbase.ErrJobQueueFull, Statement: "s"}, couchbase.ErrJobQueueFull, `"statement":"s"`},
		{couchbase.SearchError{InnerError: couchbase.ErrIndexNotFound, ErrorText: "t"}, couchbase.ErrIndexNotFound, `"error_text":"t"`},
		{couchbase.ViewError{InnerError: couchbase.ErrViewNotFound, ViewName: "v"}, couchbase.ErrViewNotFound, `"view_name":"v"`},
		{couchbase.GenericError{InnerError: couchbase.ErrTemporaryFailure, Context: map[string]any{"a": 1}}, couchbase.ErrTemporaryFailure, `"context":{"a":1}`},
	} {
		inner := errors.Unwrap(c.err)
		if !errors.Is(c.err, c.inner) || c.err.Error() != inner.Error()+" | {"+c.details+"}" {
			t.Errorf("%v", c.err)
		}
		b, err := json.Marshal(c.err)
		if err != nil || string(b) != `{"msg":"`+inner.Error()+`",`+c.details+"}" {
			t.Errorf("%s %v", b, err)
		}
	}
	if text := (couchbase.KeyValueError{}).Error(); text != "unknown error | {}" {
		t.Errorf("without an inner error: %s", text)
	}
}
