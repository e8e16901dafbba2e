package prove

import (
	"fmt"
	"time"
)

// Couchbase is the experiment about Couchbase.
var Couchbase = &Backend{
	Title:      "Couchbase",
	strategies: couchbaseStrategies,
	failures:   couchbaseFailures,
	expected:   couchbaseExpected,
	settings: Settings{
		Seed: 1, Timing: couchbaseTiming(), ReplicationDelay: 50 * time.Millisecond, Latency: time.Millisecond,
		LoadLimit: 40 * time.Second, Parallel: 15, RunsAlone: 2,
		Size: Size{
			Writers: 4, Operations: 200, MessageHits: 20, ClusterHits: 8, MixedHits: 4,
			MessageEvery: 8, ClusterEvery: 24, MixedEvery: 10, MaxOperations: 20_000,
		},
	},
	document:    couchbaseDocument,
	perDocument: maxPerCouchbaseDocument,
	classify:    classifyCouchbase,
	legend: []string{
		"-1 +2 of 3: of 3 operations 1 was reported as not applied after a fault that had passed, or as applied when it was not, and 2 " +
			"were applied twice or more; hits: faults that happened, verified in the servers' journal",
		failedMark + " applied, but the error did not say so: an ambiguous error is honest about that",
		"ambiguous: the error says that the operation may have been applied; loses: acknowledged without durability, and lost in a failover. " +
			"Neither is a fault of the strategy, so they are yellow",
	},
	describe: describeCouchbase,
}

// couchbaseTiming returns short timeouts, so that a black hole takes seconds and not minutes. A black hole is longer than the timeout
// of an operation and the pause after it: a second try is sent to it too.
func couchbaseTiming() Timing {
	return Timing{
		Connect:   5 * time.Second, // longer than a black hole, so that a connection outlives it
		KeyValue:  1500 * time.Millisecond,
		Durable:   1500 * time.Millisecond,
		BlackHole: 1900 * time.Millisecond,
		Lock:      50 * time.Millisecond,
		Pause:     100 * time.Millisecond,
	}
}

// describeCouchbase returns the lines of a report about the settings that only Couchbase has.
func describeCouchbase(s Settings) (load, times string) {
	t := s.Timing
	return fmt.Sprintf("%d writers with a client and documents each, at most %d operations a document", s.Size.Writers, maxPerCouchbaseDocument),
		fmt.Sprintf("times: operation %v, durable operation %v, replication lag %v, black hole %v, lock %v, pause after an error %v",
			t.KeyValue, t.Durable, s.ReplicationDelay, t.BlackHole, t.Lock, t.Pause)
}
