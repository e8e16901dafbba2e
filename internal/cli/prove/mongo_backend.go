package prove

import (
	"fmt"
	"time"
)

// MongoDB is the experiment about MongoDB.
var MongoDB = &Backend{
	Title:      "MongoDB",
	strategies: mongoStrategies,
	failures:   mongoFailures,
	rollbacks:  mongoRollbacks,
	expected:   mongoExpected,
	settings: Settings{
		Seed: 1, W: Majority, Timing: mongoTiming(), ReplicationDelay: replicationLag, Latency: time.Millisecond,
		LoadLimit: 40 * time.Second, Parallel: 15, RunsAlone: 2,
		Size: Size{
			Writers: 4, Operations: 200, MessageHits: 20, ClusterHits: 4, MixedHits: 4, OutageOperations: 2,
			MessageEvery: 8, ClusterEvery: 24, MixedEvery: 10, MaxOperations: 20_000,
		},
	},
	document:    mongoDocument,
	perDocument: MaxPerDocument,
	classify:    classifyMongo,
	wasteRule:   true,
	legend: []string{
		"-1 +2 of 3: of 3 operations 1 is missing and 2 were applied twice or more; hits: faults that happened, verified in the " +
			"servers' journal where it is ours (in an outage: operations that failed in it)",
		failedMark + " applied, but reported as failed: right in count. Two-step, exactly once and retryable writes can know better: it is " +
			"misreported there, except in an outage or after a command error, where a sweep applies the operation later",
		"wasteful: with more attempts or messages, or more time, than the rule allows: one message, two if there is a fault, one " +
			"selection timeout in an outage",
	},
	describe: describeMongo,
}

// replicationLag is the replication lag of embedded replica sets. Real ones have one too. Without it no write would be
// lost that was acknowledged before a majority had it.
const replicationLag = 15 * time.Millisecond

// mongoTiming returns short timeouts, so that an outage takes seconds and not minutes. The heartbeat is the
// shortest that the specification allows.
func mongoTiming() Timing {
	return Timing{
		ServerSelection: time.Second,
		Connect:         300 * time.Millisecond,
		Heartbeat:       500 * time.Millisecond,
		Election:        200 * time.Millisecond,
	}
}

// describeMongo returns the lines of a report about the settings that only MongoDB has.
func describeMongo(s Settings) (load, times string) {
	lag := ""
	if s.ReplicationDelay > 0 {
		lag = fmt.Sprintf(", replication lag %v", s.ReplicationDelay)
	}
	return fmt.Sprintf("w:%s, %d writers with a client each, at most %d operations a document", s.W, s.Size.Writers, MaxPerDocument),
		fmt.Sprintf("times: server selection %v, connect %v, heartbeat %v, election %v%s", s.Timing.ServerSelection,
			s.Timing.Connect, s.Timing.Heartbeat, s.Timing.Election, lag)
}
