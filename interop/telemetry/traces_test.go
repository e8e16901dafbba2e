package telemetry

import (
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// The tree of a retried write through a failover, as a collector gets it from the example service.
func TestACollectorGetsTheTreeOfARetriedWrite(t *testing.T) {
	c := startCollector(t)
	service := startService(t, "http://"+c.address)
	if got := ask(t, "GET", service+"/visits"); got != "1\n" {
		t.Fatalf("the first visit has the number %q", got)
	}
	ask(t, "POST", service+"/failover")
	if got := ask(t, "GET", service+"/visits"); got != "2\n" {
		t.Fatalf("the visit in the failover has the number %q", got)
	}
	retried := func(root ptrace.Span) bool { return root.Name() == "GET /visits" }
	limit := time.After(patience)
	for {
		found := c.trees(retried)
		if len(found) == 2 && len(found[1].attempts()) == 2 {
			checkTree(t, found[1])
			return
		}
		select {
		case <-c.news:
		case <-limit:
			t.Fatalf("the collector got %d traces", len(found))
		}
	}
}

// attempts returns the spans below that of the operation.
func (t *tree) attempts() []ptrace.Span {
	operations := t.below(t.root)
	if len(operations) != 1 {
		return nil
	}
	return t.below(operations[0])
}

func checkTree(t *testing.T, retried *tree) {
	t.Helper()
	operation := retried.below(retried.root)[0]
	if operation.Name() != "findAndModify app.visits" || operation.Status().Code() != ptrace.StatusCodeUnset {
		t.Errorf("the operation is %s, %v", operation.Name(), operation.Status().Code())
	}
	first, second := retried.attempts()[0], retried.attempts()[1]
	for i, a := range []ptrace.Span{first, second} {
		for key, want := range map[string]string{
			"db.command.name": "findAndModify", "db.collection.name": "visits", "db.namespace": "app", "db.system.name": "mongodb",
		} {
			if got := text(a, key); a.Name() != "findAndModify" || got != want {
				t.Errorf("attempt %d, %s: %s is %q, want %q", i, a.Name(), key, got, want)
			}
		}
	}
	if first.Status().Code() != ptrace.StatusCodeError || text(first, "error.type") == "" || second.Status().Code() != ptrace.StatusCodeUnset {
		t.Errorf("the attempts ended with %v (%s) and %v", first.Status().Code(), text(first, "error.type"), second.Status().Code())
	}
	if text(first, "server.port") == text(second, "server.port") {
		t.Errorf("both attempts were sent to the server at port %s", text(first, "server.port"))
	}
	if text(first, "db.mongodb.txn_number") != text(second, "db.mongodb.txn_number") || text(first, "db.mongodb.txn_number") == "" {
		t.Error("the attempts are not of one retryable write")
	}
}

// text returns an attribute of a span as text.
func text(s ptrace.Span, key string) string {
	value, _ := s.Attributes().Get(key)
	return value.AsString()
}
