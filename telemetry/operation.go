package telemetry

import (
	"context"
	"time"
)

// System is the kind of database, by its name in the conventions of OpenTelemetry (db.system.name).
type System string

// The kinds of database that Holdfast has clients for.
const (
	MongoDB   System = "mongodb"
	Couchbase System = "couchbase"
)

// Operation is what the application called.
type Operation struct {
	System System
	// Name is the operation's name as the specification of the database's drivers has it, for example "find" or "createCollection".
	Name string
	// Namespace is the database, or the bucket. Collection is empty if the operation is about none. Scope is that of a Couchbase collection.
	Namespace, Scope, Collection string
	Began                        time.Time
	// Transaction is the context that TransactionBegan returned for the operation's transaction; nil if the operation is in none.
	Transaction context.Context //nolint:containedctx // it carries what the tracer put there

	// Cluster and ClusterUUID are the names of the Couchbase cluster, empty while the client does not know them and if the servers do not tell them.
	Cluster, ClusterUUID string
	// Service is the Couchbase service that does the operation: "kv", "query", "analytics", "search", "views" or "management". It is empty for
	// MongoDB.
	Service string
	// Durability is the level that a Couchbase write needs, by its name in gocb: "majority", for example. Empty means none.
	Durability string
	// ErrorType is set when the operation has failed: the code of the server's error or, without one, the type of the error in Go; for Couchbase the
	// error's name by RFC 0067, or "_OTHER". It is what the conventions call error.type.
	ErrorType string
	// Rows is the number of documents in the replies to the operation, -1 if none of them is one that has documents, and always for Couchbase. It is
	// set when the operation has ended.
	Rows int
	// Statement is the text of a query that has its values as parameters. It is empty for other queries: their text may have secrets in it.
	Statement string
}
