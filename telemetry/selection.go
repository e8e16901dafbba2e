package telemetry

import "time"

// Selection is the search for a server that an attempt can be sent to.
type Selection struct {
	// Operation is nil for what the client sends for itself.
	Operation *Operation
	Began     time.Time
	// Name is the name of the command that a server is selected for. OperationID is that of the attempts, 0 for none.
	Name        string
	OperationID int64
	// WaitedBefore means that an earlier selection of the operation had to wait.
	WaitedBefore bool
	// Selector says which servers are suitable, and Topology which there are, both as the client's log shows them.
	Selector, Topology func() string
}

// Selected is how a selection ended.
type Selected struct {
	Took time.Duration
	// Address is the server's. It is empty if there is an error.
	Address string
	Err     error
}
