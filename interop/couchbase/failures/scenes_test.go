package failures

import (
	"fmt"
	"os"
	"testing"
)

// scene is one failure. run returns what the application and the server saw.
type scene struct {
	name string
	run  func(*world) string
	ours string // what our client's run must return
}

var scenes = []scene{
	{"lookup-in on a connection that is cut before the reply", cutLookup, "no error, 2 requests"},
	{"increment on a connection that is cut before the reply", cutIncrement, "request canceled, 1 request, applied once"},
	{"open breaker, a strategy that says retry", openBreaker, "no error"},
	{"full queue, a strategy that says retry", fullQueue, "0 of 64 failed"},
	{"views answer 302 twice", views(302), "no error, 3 requests"},
	{"views answer 503 twice", views(503), "no error, 3 requests"},
	{"temporary failure until the timeout, upsert", temporaryFailure, "timeout, unambiguous timeout, temporary failure; not applied"},
	{"a write that is never sent", neverSent, "timeout, unambiguous timeout; not applied"},
	{"wrong password, get", wrongPassword, "authentication failure, within a second"},
	{"the context's deadline ends a get", contextDeadline(get), "timeout, unambiguous timeout, deadline exceeded"},
	{"the context's deadline ends an upsert", contextDeadline(upsert), "timeout, ambiguous timeout, deadline exceeded"},
	{"the query service times out (1080), DML", queryTimeout(false), "timeout, ambiguous timeout"},
	{"the query service times out (1080), read only", queryTimeout(true), "timeout, unambiguous timeout"},
	{"200 cancelled operations that waited for a retry", cancelledWaits, "200 request canceled, 0 goroutines left"},
	{"a strategy that returns an error", failingStrategy, "locked, the strategy's error"},
}

// printing is the environment variable with which TestPrint runs.
const printing = "HOLDFAST_PRINT"

// TestPrint prints one line for each scene. swap_test.go runs it with either import.
func TestPrint(t *testing.T) {
	if os.Getenv(printing) == "" {
		t.Skip("TestSideBySide runs it")
	}
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			fmt.Printf("scene %s => %s\n", s.name, s.run(&world{T: t}))
		})
	}
}
