package requests

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// failure is an answer of a service.
type failure struct {
	service string
	status  int
	body    string
}

// failures returns the answers whose meaning is compared.
func failures() []failure {
	var all []failure
	for _, code := range []int{
		1000, 1065, 1080, 1191, 1192, 1193, 1194, 1195, 1197, 2000, 2120, 3000, 3999, 4000, 4040, 4041, 4050, 4060, 4070, 4080, 4090, 4300, 5000, 5001,
		9999, 10000, 12000, 12003, 12004, 12009, 12016, 13000, 13014, 14000, 17014, 20000,
	} {
		all = append(all, failure{"query", 400, fmt.Sprintf(`{"errors":[{"code":%d,"msg":"m"}],"status":"fatal"}`, code)})
	}
	for _, text := range []string{
		"Index foo not found", "index not found", "the index x already exists", "queryport.indexNotFound",
		"Limit for number of indexes that can be created per scope has been reached",
	} {
		all = append(all, failure{"query", 500, fmt.Sprintf(`{"errors":[{"code":5000,"msg":%q}]}`, text)})
	}
	for _, e := range []string{
		`{"code":12009,"msg":"CAS mismatch"}`, `{"code":12009,"msg":"x","reason":{"code":12033}}`, `{"code":12009,"msg":"x","reason":{"code":17014}}`,
		`{"code":12009,"msg":"x","reason":{"code":17012}}`, `{"code":3000,"msg":"x"},{"code":4300,"msg":"y"}`,
		`{"code":4300,"msg":"y"},{"code":3000,"msg":"x"}`, `{"code":7777,"msg":"x","retry":true}`, `{"code":12016,"msg":"x","retry":true}`,
	} {
		all = append(all, failure{"query", 200, `{"results":[],"errors":[` + e + `]}`}, failure{"query", 200, `{"results":[1],"errors":[` + e + `]}`})
	}
	for _, code := range []int{
		20000, 20001, 21000, 21002, 22000, 23000, 23003, 23007, 23008, 24000, 24001, 24006, 24025, 24034, 24044, 24045, 24047, 24048, 24055, 24999,
		25000, 25001, 26000,
	} {
		all = append(all, failure{"analytics", 200, fmt.Sprintf(`{"errors":[{"code":%d,"msg":"m"}]}`, code)})
	}
	for _, status := range []int{400, 401, 403, 404, 500, 503} {
		for _, service := range []string{"query", "analytics", "search", "views"} {
			all = append(all, failure{service, status, "text"})
		}
	}
	return append(
		all,
		failure{"search", 400, `{"error":"index not found","status":"fail"}`}, failure{"search", 429, `{"error":"num_queries_per_min"}`},
		failure{"search", 429, `{"error":"num_concurrent_requests"}`}, failure{"search", 429, `{"error":"ingress_mib_per_min"}`},
		failure{"search", 429, `{"error":"egress_mib_per_min"}`}, failure{"search", 429, `{"error":"x"}`},
		failure{"search", 400, `{"error":"num_fts_indexes"}`}, failure{"search", 200, `{"status":{"total":1,"failed":1,"errors":{"a":"b"}},"hits":[]}`},
		failure{"views", 404, `{"error":"not_found","reason":"missing"}`}, failure{"views", 404, `{"error":"not_found","reason":"deleted"}`},
		failure{"views", 200, `{"rows":[],"errors":[{"from":"a","reason":"b"}]}`}, failure{"views", 302, ""}, failure{"views", 503, ""},
		failure{"views", 500, `{"error":"badarg"}`}, failure{"views", 400, `{"error":"query_parse_error"}`},
		failure{"search index", 400, `{"error":"index not found"}`}, failure{"design document", 404, `{"error":"not_found","reason":"missing"}`},
	)
}

// errorDifferences are the answers that mean another error in gocb, with the reason: those with this service, one of these statuses (none:
// any) and one of these texts.
var errorDifferences = []struct {
	service  string
	statuses []int
	texts    []string
	reason   string
}{
	{"query", nil, []string{`:4040,`, `:4050,`, `:4060,`, `:4070,`, `:4080,`, `:4090,`}, "RFC 0049: these codes are retried, also for statements that are not prepared"},
	{"query", nil, []string{`"queryport.indexNotFound"`}, "the timeout also matches its cause"},
	{"query", nil, []string{`"results":[],"errors":[{"code":7777`}, "gocb has the reason QUERY_ERROR_RETRYABLE, but does not retry these errors when they come with status 200"},
	{"query", nil, []string{`:1080,`}, "the statement is not readonly, so it may have been applied when the service ended it"},
	{"query", nil, []string{`:1065,`}, "1065 is a parameter that the service does not know: the feature is missing"},
	{"query", nil, []string{`:2120,`}, "2120 is a user without the permission"},
	{"query", nil, []string{`:3999,`}, "all codes from 3000 to 3999 are about the text of the statement"},
	{"query", nil, []string{`"index not found"`}, "the service writes this text in upper and lower case"},
	{"analytics", nil, []string{`:23000,`, `:23003,`, `:23007,`}, "RFC 0049: these codes are retried; gocb does not retry them when they come with status 200"},
	{"analytics", nil, []string{`:21002,`}, "21002 is the service's own timeout"},
	{"query", []int{401, 403}, []string{"text"}, "a wrong password is said as such, also without a body"},
	{"analytics", []int{401, 403}, []string{"text"}, "a wrong password is said as such, also without a body"},
	{"views", []int{403}, []string{"text"}, "a missing permission is said as such"},
	{"views", []int{302, 500, 503}, []string{"text", ""}, "RFC 0049: these statuses are retried"},
	{"views", []int{404}, []string{`"missing"`}, "RFC 0049: the view may not have come to the node yet, so it is asked again; the timeout matches its cause"},
	{"search", []int{400}, []string{"num_fts_indexes"}, "a limit of the number of indexes is a quota"},
}

// errorDifference returns the reason why the errors may differ, "" for none, and the row.
func errorDifference(f failure) (string, int) {
	for i, d := range errorDifferences {
		has := func(text string) bool { return strings.Contains(f.body, text) && (text != "" || f.body == "") }
		if d.service == f.service && (d.statuses == nil || slices.Contains(d.statuses, f.status)) && slices.ContainsFunc(d.texts, has) {
			return d.reason, i
		}
	}
	return "", -1
}

// errorsOf returns the errors that the failures match.
func errorsOf(t *testing.T) (all []string) {
	r := newRecorder(t, true)
	c, end := connect(t, r)
	defer end()
	for _, f := range failures() {
		r.Answer(func(Request) (int, string) { return f.status, f.body })
		all = append(all, strings.Join(c.Failing(f.service), ", "))
	}
	return all
}

func compareErrors(t *testing.T, ours, gocb []string) {
	t.Helper()
	if len(ours) != len(failures()) || len(gocb) != len(failures()) {
		t.Fatalf("of %d failures gocb has %d and ours has %d", len(failures()), len(gocb), len(ours))
	}
	used := make(map[int]bool)
	for i, f := range failures() {
		want, got := gocb[i], ours[i]
		reason, row := errorDifference(f)
		switch {
		case got != want && reason == "":
			t.Errorf("%s %d %s:\n\tours: %s\n\tgocb: %s", f.service, f.status, f.body, got, want)
		case got != want:
			used[row] = true
		case reason != "":
			t.Errorf("%s %d %s: the errors are the same, so the row in the table of differences is wrong", f.service, f.status, f.body)
		}
	}
	for i, d := range errorDifferences {
		if !used[i] {
			t.Errorf("the row of the table of differences is not used: %s", d.reason)
		}
	}
	t.Logf("%d answers were compared", len(gocb))
}
