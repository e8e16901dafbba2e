package telemetry

import "time"

// Pool is what a client knows of its connections to one server, or to one service of a server.
type Pool struct {
	// Address is the server's "host:port", or the path of a Unix domain socket.
	Address string
	// Service is the Couchbase service. It is empty for MongoDB.
	Service string
	// Ready means that operations can be sent. For MongoDB a check of the server has succeeded. For Couchbase there is a connection, or the client closed
	// the last one because nobody needed it.
	Ready bool
	// InUse connections have an operation, or read the late reply of one. Idle ones do not, and Pending ones are being made.
	InUse, Idle, Pending int
	// Waiting operations have no connection yet. OldestWait is how long the first of them has waited.
	Waiting    int
	OldestWait time.Duration
	// LongestWait is the longest time that an operation has waited for a connection since the pool was made, those that wait now included.
	LongestWait time.Duration
	// Min and Max are the limits of the number of connections. A Max of 0 means that there is none.
	Min, Max int
	// Made is the number of connections that were made since the pool was, Failed that of those that could not be made. Closed has the number of
	// those that were made and closed, by the reason.
	Made, Failed uint64
	Closed       map[string]uint64
	// TimedOut is the number of operations that got no connection before their time was over or their context ended.
	TimedOut uint64
}

// PoolEventKind is what happened to a pool or to one of its connections.
type PoolEventKind uint8

// The kinds of events. Those of MongoDB are those of its specification of Connection Monitoring and Pooling.
const (
	PoolCreated       PoolEventKind = iota + 1 // Min and Max are set
	PoolReady                                  // operations can be sent
	PoolCleared                                // all connections, or those of Service, are not used again: Err says why
	PoolClosed                                 // the pool is not used again
	ConnectionCreated                          // a connection is being made: ID is set
	ConnectionReady                            // it was made: ID and Took are set
	ConnectionClosed                           // it was closed, or could not be made: ID, Reason and Err are set
	CheckoutBegan                              // an operation asks for a connection
	CheckoutFailed                             // it got none: Reason, Err and Took are set
	CheckedOut                                 // it got one: ID and Took are set
	CheckedIn                                  // it returned it: ID, and as Took how long it had it
)

// PoolEvent is a moment in the life of a pool, or of one of its connections.
type PoolEvent struct {
	Kind    PoolEventKind
	System  System
	Address string
	// ID is the client's own number of the connection among those to the same server.
	ID   int64
	Took time.Duration
	// Reason is why a connection was closed, or why an operation got none.
	Reason string
	Err    error
	// Service is the id of the service behind a load balancer, in hexadecimal, or the name of a Couchbase service. Empty means none.
	Service string
	// Interrupted means that a pool that was cleared interrupts the operations on its connections.
	Interrupted bool
	Min, Max    uint64
}
