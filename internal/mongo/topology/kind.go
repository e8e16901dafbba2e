package topology

// ServerType is SDAM's ServerType.
type ServerType uint8

// The server types. PossiblePrimary is for single-threaded clients. This client checks all servers at the same time,
// so it never sets PossiblePrimary and treats it as Unknown.
const (
	Unknown ServerType = iota
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
func (k ServerType) String() string {
	if int(k) < len(serverKindNames) {
		return serverKindNames[k]
	}
	return "invalid"
}

// Type is SDAM's TopologyType.
type Type uint8

// The topology types.
const (
	UnknownTopology Type = iota
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
func (k Type) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}
