package requests

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/couchbase/requests/official"
	"github.com/holdfast-db/holdfast/interop/couchbase/requests/ours"
)

// differences are the steps at which the requests differ, with the reason.
var differences = map[string]string{
	"view: Key":                 "gocb writes a line feed after the JSON of a key; it means nothing",
	"view: Keys":                "gocb writes a line feed after the JSON of a key; it means nothing",
	"view: StartKey and EndKey": "gocb writes a line feed after the JSON of a key; it means nothing",
	"view: a name with a slash": "gocb does not escape a slash in the name of a view, so the service sees another path",
}

// headerDifferences are the headers that differ in every request, with the reason.
var headerDifferences = map[string]string{
	"Content-Length": "gocb sends a body in chunks; ours is known before it is sent, so its length is",
}

// answer lets the steps succeed that need more than an empty result.
func answer(q Request) (int, string) {
	switch {
	case strings.HasPrefix(q.Path, "/analytics/node"):
		return 200, `{"Default":{"d":5}}`
	case strings.HasPrefix(q.Path, "/analytics/link"):
		return 200, `[{"name":"n","dataverse":"a","type":"s3"},{"name":"n","scope":"a/b","type":"couchbase","activeHostname":"h","encryption":"none"}]`
	case strings.HasPrefix(q.Path, "/api/") && q.Method == http.MethodGet:
		return 200, `{"status":"ok","count":3,"indexDef":{"name":"x"},"indexDefs":{"indexDefs":{"x":{"name":"x"}}}}`
	case strings.HasPrefix(q.Path, "/b/_design/") && !strings.Contains(q.Path, "_view"):
		return 200, `{"views":{"v":{"map":"m"}}}`
	case strings.HasPrefix(q.Path, "/pools"):
		return 200, `{"rows":[{"doc":{"meta":{"id":"_design/x"},"json":{"views":{"v":{"map":"m"}}}}}]}`
	case strings.Contains(q.Body, `"PREPARE `) && !strings.Contains(q.Body, "auto_execute"):
		return 200, `{"results":[{"name":"p","encoded_plan":"plan"}],"status":"success"}`
	default:
		return 200, `{"prepared":"p","results":[],"rows":[],"hits":[],"status":"success"}`
	}
}

// What is different in each request, although it means the same.
var (
	id      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	timeout = regexp.MustCompile(`"timeout":"(1m1[45][0-9.]*s|59[0-9.]*s|1m0s)"`)
	control = regexp.MustCompile(`"timeout":7(4999|4998|4997|499[0-6]|49[0-8][0-9]|5000)\b`)
	agent   = regexp.MustCompile(`^\{"a":"[^"]+","i":"`)
)

// text is a request with everything that both clients must send alike.
func text(q Request) string {
	body := timeout.ReplaceAllString(q.Body, `"timeout":"TIMEOUT"`)
	body = control.ReplaceAllString(body, `"timeout":MILLISECONDS`)
	var headers []string
	for name, values := range q.Header {
		if headerDifferences[name] != "" {
			continue
		}
		value := strings.Join(values, ", ")
		if name == "User-Agent" {
			value = agent.ReplaceAllString(value, `{"a":"AGENT","i":"`)
		}
		headers = append(headers, name+": "+value)
	}
	slices.Sort(headers)
	return id.ReplaceAllString(fmt.Sprintf("%s %s\n%s\n%s", q.Method, q.Path, strings.Join(headers, "\n"), body), "ID")
}

// record returns the requests of each step.
func record(t *testing.T, r *Recorder, names []string, run func(i int) error) []string {
	t.Helper()
	r.Answer(answer)
	all := make([]string, len(names))
	for i, name := range names {
		r.Take()
		if err := run(i); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var texts []string
		for _, q := range r.Take() {
			texts = append(texts, text(q))
		}
		all[i] = strings.Join(texts, "\n---\n")
	}
	return all
}

// newRecorder starts a node that ends with the test.
func newRecorder(t *testing.T, enhanced bool) *Recorder {
	t.Helper()
	r, err := NewRecorder(enhanced)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// officialRequests returns the requests of gocb, and the names of the steps.
func officialRequests(t *testing.T, enhanced bool) (names, requests []string) {
	r := newRecorder(t, enhanced)
	c, end, err := official.Connect(r.ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	steps := official.Steps()
	for _, s := range steps {
		names = append(names, s.Name)
	}
	warmUp(t, func() error { return official.Steps()[2].Run(c) })
	return names, record(t, r, names, func(i int) error { return steps[i].Run(c) })
}

// ourRequests returns the requests of this project's client.
func ourRequests(t *testing.T, enhanced bool) []string {
	r := newRecorder(t, enhanced)
	c, end, err := ours.Connect(r.ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	steps := ours.Steps()
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Name
	}
	warmUp(t, func() error { return ours.Steps()[2].Run(c) })
	return record(t, r, names, func(i int) error { return steps[i].Run(c) })
}

// warmUp waits until the client knows the cluster's map: it runs a statement that is not prepared.
func warmUp(t *testing.T, run func() error) {
	t.Helper()
	begin := time.Now()
	if err := run(); err != nil {
		t.Fatalf("after %v: %v", time.Since(begin), err)
	}
}

// TestTheRequestsAreThoseOfGocb compares the requests of all operations and options byte for byte, but for ids, the agent's name and
// the milliseconds that have passed.
func TestTheRequestsAreThoseOfGocb(t *testing.T) {
	for _, enhanced := range []bool{true, false} {
		t.Run(fmt.Sprintf("enhanced prepared statements %v", enhanced), func(t *testing.T) {
			names, want := officialRequests(t, enhanced)
			got := ourRequests(t, enhanced)
			compared, differ := 0, 0
			for i, name := range names {
				if want[i] == "" {
					t.Errorf("%s: gocb sent nothing", name)
				}
				compared++
				reason := differences[name]
				switch {
				case got[i] != want[i] && reason == "":
					t.Errorf("%s:\n--- ours\n%s\n--- gocb\n%s", name, got[i], want[i])
				case got[i] == want[i] && reason != "":
					t.Errorf("%s: the requests are the same, so its row in the table of differences is wrong", name)
				case reason != "":
					differ++
				}
			}
			t.Logf("%d calls were compared; %d differ, with a reason", compared, differ)
		})
	}
}
