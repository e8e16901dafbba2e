package couchbasetest

// For those who change the servers.
//
// couchbasetest is one process with several nodes. One mutex, the cluster's, guards the maps and all data. A request takes this
// path: conn.go reads it (one goroutine for each connection), exec.go parses its frames and passes it through the middleware,
// check.go finds the document's vbucket on the node and refuses the request if something is wrong with it, and the function of
// the table in command.go, in the cmd_*.go of its group, executes it under the mutex. write.go makes the new version of a
// document; a durable write is prepared, and durability.go waits for the copies without the mutex. A request that may wait
// (middleware, durability) has a goroutine of its own if the client accepts replies in any order; the next request begins when it
// waits. output.go collects the bytes of replies and pushes; one goroutine at a time writes for all.
//
// internal/store in it has the copies of a vbucket as values: documents, sequence numbers, histories, what a replica lacks and
// what is not on disk. Replication has no goroutine: each event has a time, and whoever looks at a replica first applies what is
// due (replication.go). All who wait for something (a durable write, WaitIdle) wait for the next due time or for the channel
// changed, which wakeLocked closes. internal/subjson changes JSON texts by paths. bucket.go, rebalance.go, failover.go and
// life.go change rows and nodes; each change of rows publishes a map (push.go, mapjson.go). management.go is the cluster as
// httpapi sees it; httpservice.go serves that on each node.
