//go:build spec_holdfast

package spec

import "testing"

// The client under test is Holdfast's, by the runner's bind_holdfast.go.
const (
	clientName  = "ours"
	tableFile   = "expected_ours.json"
	missingFile = "unsupported.json"
)

// leastOperations is how many cases of TestRunnerOperations are run.
const leastOperations = 33

// versions are those that a case is run on where its file admits them: the newest of each that the client works with.
var versions = []string{"7.0.25", "8.0.15", "9.0", "6.0.26", "5.0.31", "4.4.29", "4.4.13", "4.2.25", "4.0.28", "3.6.23"}

// mostRuns is how often a case may be run until its outcome is the one in the table. Our client has one run.
const mostRuns = 1

// longRun means that -short leaves the suites out.
const longRun = false

// notRun are cases that are not run: none.
var notRun map[string]map[string]string

// passed are the suites of which some cases pass.
var passed = []string{
	"change-streams", "client-backpressure", "client-side-operations-timeout", "collection-management",
	"command-logging-and-monitoring/tests/monitoring", "crud", "index-management", "load-balancers/tests", "mongodb-handshake", "open-telemetry", "read-write-concern/tests/operation",
	"retryable-reads", "retryable-writes", "sessions", "unified-test-format/tests/valid-pass", "versioned-api",
}

func TestAMissingThingIsNoErrorThatACaseExpects(t *testing.T) {
	raw := `{"object": "db", "name": "createCollection", "arguments": {"collection": "x", "encryptedFields": {}}`
	for name, operation := range map[string]string{
		"an option, and any error is expected":              raw + `, "expectError": {"isError": true}}`,
		"an option, and the result is ignored":              raw + `, "ignoreResultAndError": true}`,
		"an option, and an error of the client is expected": raw + `, "expectError": {"isClientError": true}}`,
		"an option, on a thread": runner("runOnThread", `"thread": "thread", "operation": `+raw+`}`) + "," +
			runner("waitForThread", `"thread": "thread"`),
		"an option of a client that a case makes": runner("createEntities", `"entities": [{"client": {"id": "other", "uriOptions": {"uuidRepresentation": "csharpLegacy"}}}]`),
	} {
		f := framed(t, operation)
		r := result{err: runCase(t, f, &f.Tests[0], onReplicaSet(f, &f.Tests[0]))}
		if r.outcome() != unsupported {
			t.Errorf("%s: %v", name, r.err)
		}
	}
}
