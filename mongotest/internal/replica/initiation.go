package replica

// Initiation is how far the servers are on the way to being a replica set.
type Initiation uint8

// The states on that way.
const (
	Uninitiated Initiation = iota
	Initiating             // replSetInitiate is being executed
	Initiated
)
