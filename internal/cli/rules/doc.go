// Package rules has the rules of retries as a table: each rule in a sentence, with its source. Its functions give the verdict for one
// case, which is an operation, a failure, a kind of server and the client's options. It does nothing itself: it imports no client. Tests of
// the clients make every case happen and compare their verdicts with these.
//
// Begin with rule.go (rules, verdicts), mongo.go and couchbase.go (the verdict for a case). Then mongo_*.go, couchbase_*.go
// (operations, failures, codes, the sentences), told.go (reads the text of an error).
package rules
