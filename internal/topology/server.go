// Package topology holds what a client knows of a deployment, as immutable values and pure functions: a hello becomes a
// server description, a server description applied to a topology description gives the next one, and server selection
// picks from it. It has no sockets, no goroutines and no clock of its own. The source is the Server Discovery and
// Monitoring and the Server Selection specifications.
package topology

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// ServerKind is a server's type in the words of the specification.
type ServerKind uint8

// The types of server.
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

// Server is a server description: what the last hello (or its failure) told about one server. It is immutable: all
// fields are set before it is published, and it is passed by pointer.
type Server struct {
	Address string // "host:port", lower case
	Kind    ServerKind
	Error   error // why Kind is Unknown, if it is known

	RTT    time.Duration // exponentially weighted moving average
	HasRTT bool

	Me                    string
	Hosts                 []string
	Passives              []string
	Arbiters              []string
	SetName               string
	SetVersion            *int64
	ElectionID            bson.ObjectID // zero if absent
	Primary               string
	Tags                  tag.Set
	TopologyVersion       *TopologyVersion
	SessionTimeoutMinutes *int64
	LastWriteDate         time.Time
	LastUpdateTime        time.Time // when the hello's answer came, by the clock of whoever asked

	MinWireVersion      int32
	MaxWireVersion      int32
	MaxDocumentSize     int32 // maxBsonObjectSize, bytes
	MaxMessageSize      int32 // maxMessageSizeBytes
	MaxBatchCount       int32 // maxWriteBatchSize, statements
	HelloOK             bool
	ReadOnly            bool
	ServerConnectionID  *int64
	Compression         []string
	SASLSupportedMechs  []string
	ArbiterOnly, Hidden bool
}

// TopologyVersion orders the states of one server process.
type TopologyVersion struct {
	ProcessID bson.ObjectID
	Counter   int64
}

// DataBearing tells whether the server holds data that may be read.
func (s *Server) DataBearing() bool {
	switch s.Kind {
	case Standalone, Mongos, RSPrimary, RSSecondary, LoadBalancer:
		return true
	case Unknown, PossiblePrimary, RSArbiter, RSOther, RSGhost:
		return false
	}
	return false
}

// Writable tells whether the server takes writes.
func (s *Server) Writable() bool {
	switch s.Kind {
	case Standalone, Mongos, RSPrimary, LoadBalancer:
		return true
	case Unknown, PossiblePrimary, RSSecondary, RSArbiter, RSOther, RSGhost:
		return false
	}
	return false
}
