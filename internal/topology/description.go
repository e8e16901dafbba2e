package topology

import "go.mongodb.org/mongo-driver/v2/bson"

// Kind is a topology's type in the words of the specification.
type Kind uint8

// The types of topology.
const (
	UnknownTopology Kind = iota
	Single
	ReplicaSetNoPrimary
	ReplicaSetWithPrimary
	Sharded
	LoadBalanced
)

// Description is a topology description. It is immutable; Apply returns the next one.
type Description struct {
	Kind    Kind
	SetName string    // required or learned replica set name
	Servers []*Server // in the order in which they were learned

	MaxSetVersion *int64
	MaxElectionID bson.ObjectID

	// CompatibilityError, if not nil, is why no operation can be sent.
	CompatibilityError error
	// SessionTimeoutMinutes is the least of the data-bearing servers', nil if sessions are not supported.
	SessionTimeoutMinutes *int64
}

// Config is what a topology starts from.
type Config struct {
	Seeds        []string // at least one "host:port"
	SetName      string   // "" if none is required
	Direct       *bool    // the directConnection option; nil if not given
	LoadBalanced bool
}
