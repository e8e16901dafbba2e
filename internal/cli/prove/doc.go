// Package prove is the counting experiment of `holdfast prove`: many writers increment counters while failures are injected, and
// afterwards the experiment checks for each single operation how often it was applied. A [Backend] is one kind of database. Each
// has retry strategies and failures. Each pair is a cell, with its own clients, deployment and data. The parts of a cell are:
//
//	plan      the faults and their operations: a pure function of seed, failure and operation
//	referee   decides when a planned fault may happen, so that no operation has two faults
//	injector  applies the fault to a message, and records a hit only if it happened
//	writers   run operations with the strategy under test, until there are enough hits
//	sweep     MongoDB: applies the operations that have only their first step
//	audit     heals the cluster, reads all documents with a new client, and compares them with the servers' journal
//	count     per operation: acknowledged or errored, and applied 0 times, once, twice or more
//	waste     MongoDB, per operation: its messages, tries and time, compared with the rule; then the verdict
//
// The experiment uses MongoDB's clients through [Client] only, so that the same matrix tests any driver. Nothing in it
// depends on wall-clock time or on real sockets: with [Memory] or [CouchbaseMemory] it runs inside a testing/synctest bubble.
//
// internal/cli/prove runs one strategy against one kind of failure as a cell: servers of its own, writers with a client each, a
// plan that chooses the fault of each message by the seed, the operation and the attempt, and an audit at the end. A Backend is
// one kind of database: its strategies, its failures, the expected verdicts, and how an operation is counted. A site is the
// servers of one cell, with the clients; all else is the same for MongoDB and Couchbase. MongoDB's clients stand behind a small
// interface, so interop/mongo/provematrix runs the matrix with the official driver. holdfast prove runs cells side by side on the
// real clock; the figures over many seeds come from the same code inside testing/synctest.
//
// A strategy is judged by its counts (missing, extra), by its reports (misreported), and by its waste (waste.go): messages, tries
// and time beyond the rule of the resilience article. On the fake clock the time is exact; on the real clock it counts only above
// half of a client's patience. Probes (probes.go) measure how late timers fire: as many cells run side by side as the timers
// allow (gate.go), and a cell during which one was too late runs again alone, with longer times, and has no verdict if it is
// disturbed again. The story of an operation must agree with the journal message by message (story_compare.go). Secondaries lag
// behind, and a primary that is killed in the mixed failure dies at the end of an operation that was sent again (referee.go): a
// retry that asks for less durability loses its write then. --rollbacks adds cells with write concern 1, in which acknowledged
// writes must be lost. The negative controls are controls in the tests: each is a client with one defect around a sound one
// (defective_test.go), and the experiment must notice it for every seed. The defects inside servers, clients and the experiment
// are not in the code: internal/devtools/defect names them, internal/devtools/mutation/defects.go writes them into an overlay,
// and .ci/defects runs the controls with it: the tests with the build tag defects, with deployments that make a defect visible in
// worlds_test.go.
//
// A delayed request (delay.go) waits in the middleware of the server or the proxy, with its client's connection closed, until the
// writer has ended the operation; the writer waits until it was executed. So nothing is on its way at the end, and the journal
// shows that all other messages of the operation came before. The sweep of a strategy (sweep.go) runs between the load and the
// audit. --schedule (schedule.go) prints the plan itself, and a test compares it with the hits.
//
// Couchbase's experiment has no rule about waste, and two verdicts of its own: an error that says that the outcome is unknown is
// honest, and a write without durability may be lost. Its negative controls are in couchbase_defects_test.go. docs/PROVE.md
// explains the verdicts.
//
// An exploration samples nothing: explored.go and explorer.go run one operation of each strategy of MongoDB with every failure of
// internal/explore/mongofault at each of its messages, on servers of its own in memory, and audit the data as a cell does. A cell
// calls an operation missing that was given up although its fault had passed; here an honest error is no flaw. The clients wait for a
// server longer than any failure lasts, so that a busy machine changes no run.
//
// The stories of a cell are made when it has ended, so a run pays for the time of each message and for the times of the faults
// only: story.go chooses the operations, the first of each flaw or one that met a fault and came out right, and story_teller.go
// puts their tries, messages and faults together with the servers' journal. The tests compare each story with the final data.
// internal/cli/report turns events into sentences (internal/cli/report/words.go, internal/cli/report/faults.go) and charts
// (internal/cli/report/chart.go); its page has no script, so nothing but the browser is needed to read it.
//
// # Files
//
// Begin with matrix.go, cell.go, backend.go, site.go. Then strategy.go, failure.go, plan.go, injector.go, referee.go, audit.go,
// counts.go, waste.go, verdict.go, expect.go, story.go, story_teller.go, explored.go, explorer.go; each backend's in files named after it:
// mongo_backend.go, mongo_site.go, couchbase_backend.go, couchbase_site.go, couchbase_faults.go.
package prove
