package topology

// ServerKind is a server's type in the words of the specification.
type ServerKind uint8

// The types of server. PossiblePrimary belongs to single-threaded clients, which scan it first; this client checks all
// servers at the same time, never produces it and treats it as Unknown.
const (
	Unknown ServerKind = iota
	Standalone
	Mongos
	PossiblePrimary
	RSPrimary
	RSSecondary
	RSArbiter
	RSOther
	RSGhost
	LoadBalancer
)

var serverKindNames = [...]string{
	Unknown:         "Unknown",
	Standalone:      "Standalone",
	Mongos:          "Mongos",
	PossiblePrimary: "PossiblePrimary",
	RSPrimary:       "RSPrimary",
	RSSecondary:     "RSSecondary",
	RSArbiter:       "RSArbiter",
	RSOther:         "RSOther",
	RSGhost:         "RSGhost",
	LoadBalancer:    "LoadBalancer",
}

// String returns the specification's name of the type.
func (k ServerKind) String() string {
	if int(k) < len(serverKindNames) {
		return serverKindNames[k]
	}
	return "invalid"
}

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

var kindNames = [...]string{
	UnknownTopology:       "Unknown",
	Single:                "Single",
	ReplicaSetNoPrimary:   "ReplicaSetNoPrimary",
	ReplicaSetWithPrimary: "ReplicaSetWithPrimary",
	Sharded:               "Sharded",
	LoadBalanced:          "LoadBalanced",
}

// String returns the specification's name of the type.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}
