//go:build !spec_holdfast

package spec

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// The client under test is the official driver, by the runner's bind_official.go. It lacks nothing.
const (
	clientName  = "official"
	tableFile   = "expected.json"
	missingFile = ""
)

// leastOperations is how many cases of TestRunnerOperations are run: all.
const leastOperations = 46

// versions are those that a case is run on where its file admits them. The official client refuses older ones.
var versions = []string{"7.0.25", "8.0.15", "9.0", "6.0.26", "5.0.31", "4.4.29", "4.4.13"}

// tracing is nil: nothing can trace the client from inside.
var tracing unified.Tracing

// passed are the suites of which some cases pass: all but the one about traces.
var passed = slices.DeleteFunc(slices.Clone(suites), func(suite string) bool { return suite == "open-telemetry" })

// mostRuns is how often a case may be run until its outcome is the one in the table. The outcome of a few cases depends on the order
// in which the client's goroutines run: of its log messages, or of a check and a failed handshake.
const mostRuns = 5

// longRun means that -short leaves the suites out. They are run with the race detector on our client, which covers the server and
// the runner too.
const longRun = true

// notRun are cases that are not run, and why.
var notRun = map[string]map[string]string{
	"client-side-operations-timeout/tests/change-streams.json": {
		"timeoutMS applies to full resume attempt in a next call": endless,
		"timeoutMS is refreshed for getMore - failure":            endless,
	},
	"server-discovery-and-monitoring/tests/unified/pool-clear-min-pool-size-error.json": {
		"Pool is not cleared on handshake error during minPoolSize population": "the client does not apply serverMonitoringMode of a connection " +
			"string, so whether the pool is cleared depends on the order of its goroutines",
	},
}

// endless is the outcome of a client that asks again and again without a pause. It contains the text of the runner's limit.
const endless = "the case did not end within any time"
