package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
)

// couchbaseErrors are errors as the client makes them, with a part of what explain says of each.
var couchbaseErrors = []struct {
	err  error
	says []string
}{
	{
		&couchbase.TimeoutError{
			InnerError: couchbase.ErrUnambiguousTimeout, OperationID: "get", RetryAttempts: 3, LastDispatchedTo: "a:11210",
			RetryReasons: []couchbase.RetryReason{couchbase.KVTemporaryFailureRetryReason, couchbase.KVLockedRetryReason},
		},
		[]string{"unambiguous timeout\n", "Retries: 3, the last attempt at a:11210\n", "KV_TEMPORARY_FAILURE: A node", "KV_LOCKED: A locked", "nothing was changed"},
	},
	{&couchbase.TimeoutError{InnerError: couchbase.ErrAmbiguousTimeout, OperationID: "replace"}, []string{"Retries: 0\n", "may have been applied"}},
	{&couchbase.KeyValueError{InnerError: couchbase.ErrDocumentNotFound, StatusCode: 1}, []string{"document not found\n", "Retries: 0\n"}},
	{&couchbase.QueryError{InnerError: couchbase.ErrPlanningFailure, Endpoint: "a:8093", RetryAttempts: 2}, []string{"Retries: 2, the last attempt at a:8093\n"}},
	{&couchbase.HTTPError{InnerError: couchbase.ErrAuthenticationFailure, Endpoint: "a:8091"}, []string{"the last attempt at a:8091\n"}},
}

func TestExplainReadsTheTextsOfCouchbaseErrors(t *testing.T) {
	for _, c := range couchbaseErrors {
		text := c.err.Error()
		logged := strconv.Quote(fmt.Sprintf("saving: %v", c.err))
		for _, printed := range []string{text, "saving: " + text + "; given up", "  " + strings.ReplaceAll(text, " ", "\n "), `{"err":` + logged + `}`} {
			code, out, errs := holdfast(t.Context(), "explain", "--text", printed)
			for _, want := range c.says {
				if code != exitOK || !strings.Contains(out, want) {
					t.Errorf("%s: exit code %d, %s%s, want %q", printed, code, out, errs, want)
				}
			}
		}
	}
}

func TestExplainPrintsACouchbaseErrorAsJSON(t *testing.T) {
	_, out, _ := holdfast(t.Context(), "explain", "--json", "--text", couchbaseErrors[0].err.Error())
	var told toldCouchbaseError
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatal(err)
	}
	if told.Retries != 3 || len(told.Reasons) != 2 || told.Reasons[1].Reason != "KV_LOCKED" || told.LastNode != "a:11210" || told.Message != "unambiguous timeout" {
		t.Errorf("%s", out)
	}
}

func TestExplainRefusesOtherTextsWithABar(t *testing.T) {
	for _, text := range []string{"", "a | b", "a | {", `a | {}`, `a | {"name":"x"}`, `a | {"retry_reasons":3}`} {
		if code, out, errs := holdfast(t.Context(), "explain", "--text", text+" "); code != exitUsage || out != "" {
			t.Errorf("%q: exit code %d, %q, %q", text, code, out, errs)
		}
	}
}
