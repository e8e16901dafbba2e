package requests

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/couchbase/requests/calls"
	"github.com/holdfast-db/holdfast/interop/internal/swap"
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

// recording is what a client sent, and the errors that it returned.
type recording struct {
	Enhanced, Plain map[string]string // the requests of each step, with and without enhanced prepared statements
	Errors          []string          // of each failure
}

// TestRecord runs all steps and failures with the client that is imported.
func TestRecord(t *testing.T) {
	swap.Record(t, func() recording {
		return recording{requestsOf(t, true), requestsOf(t, false), errorsOf(t)}
	})
}

// TestBothClientsDoTheSame compares the requests of all operations and options byte for byte, but for ids, the agent's name and the
// milliseconds that have passed, and the errors that the answers of the services match.
func TestBothClientsDoTheSame(t *testing.T) {
	gocb := swap.Recorded[recording](t, swap.Official(t, "^TestRecord$"))
	ours := swap.Recorded[recording](t, swap.Ours(t, "^TestRecord$", 1))
	t.Run("enhanced prepared statements", func(t *testing.T) { compareRequests(t, ours.Enhanced, gocb.Enhanced) })
	t.Run("prepared statements", func(t *testing.T) { compareRequests(t, ours.Plain, gocb.Plain) })
	t.Run("errors", func(t *testing.T) { compareErrors(t, ours.Errors, gocb.Errors) })
}

// requestsOf returns the requests of each step.
func requestsOf(t *testing.T, enhanced bool) map[string]string {
	r := newRecorder(t, enhanced)
	c, end := connect(t, r)
	defer end()
	r.Answer(answer)
	all := make(map[string]string)
	for _, s := range calls.Steps() {
		r.Take()
		if err := s.Run(c); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		var texts []string
		for _, q := range r.Take() {
			texts = append(texts, text(q))
		}
		all[s.Name] = strings.Join(texts, "\n---\n")
	}
	return all
}

// connect returns a client that knows the cluster's map: it has run a statement that is not prepared. gocb 2.12.4 at times lets a statement
// that comes before its first map wait until its timeout, so another client is tried then.
func connect(t *testing.T, r *Recorder) (c *calls.Client, end func()) {
	t.Helper()
	for try := 1; ; try++ {
		c, end, err := calls.Connect(r.ConnString())
		if err != nil {
			t.Fatal(err)
		}
		if err = c.WarmUp(5 * time.Second); err == nil {
			return c, end
		}
		if end(); try == 3 {
			t.Fatalf("client %d: %v", try, err)
		}
	}
}

func compareRequests(t *testing.T, ours, gocb map[string]string) {
	t.Helper()
	compared, differ := 0, 0
	for _, s := range calls.Steps() {
		got, want, reason := ours[s.Name], gocb[s.Name], differences[s.Name]
		if want == "" {
			t.Errorf("%s: gocb sent nothing", s.Name)
		}
		compared++
		switch {
		case got != want && reason == "":
			t.Errorf("%s:\n--- ours\n%s\n--- gocb\n%s", s.Name, got, want)
		case got == want && reason != "":
			t.Errorf("%s: the requests are the same, so its row in the table of differences is wrong", s.Name)
		case reason != "":
			differ++
		}
	}
	t.Logf("%d calls were compared; %d differ, with a reason", compared, differ)
}
