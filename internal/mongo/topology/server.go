// Package topology holds what a client knows of a deployment, as immutable values and pure functions: a hello becomes a
// server description, a server description applied to a topology description gives the next one, and server selection
// picks from it. It has no sockets, no goroutines and no clock of its own. The source is the Server Discovery and
// Monitoring and the Server Selection specifications.
package topology

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/tag"
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
	ServiceID           bson.ObjectID // behind a load balancer only, zero if absent
	Compression         []string
	SASLSupportedMechs  []string
	ArbiterOnly, Hidden bool
}

// NewUnknown describes a server of which nothing is known: not checked yet (err is nil), or failed with err. tv is the
// topologyVersion that came with a state change error, nil for every other cause. Its round trip time is cleared, as
// Server Selection, "Calculation of Average Round Trip Times", asks.
func NewUnknown(addr string, err error, tv *TopologyVersion) *Server {
	return &Server{Address: strings.ToLower(addr), Error: err, TopologyVersion: tv}
}

// NewLoadBalancer describes a load balancer, which is never asked what it is.
func NewLoadBalancer(addr string) *Server {
	return &Server{Address: strings.ToLower(addr), Kind: LoadBalancer}
}

// Known reports whether the last check told what the server is. PossiblePrimary is only another member's opinion.
func (s *Server) Known() bool {
	return s.Kind != Unknown && s.Kind != PossiblePrimary
}

// DataBearing reports whether the server holds data that may be read.
func (s *Server) DataBearing() bool {
	switch s.Kind {
	case Standalone, Mongos, RSPrimary, RSSecondary, LoadBalancer:
		return true
	case Unknown, PossiblePrimary, RSArbiter, RSOther, RSGhost:
		return false
	}
	return false
}

// Writable reports whether the server takes writes.
func (s *Server) Writable() bool {
	switch s.Kind {
	case Standalone, Mongos, RSPrimary, LoadBalancer:
		return true
	case Unknown, PossiblePrimary, RSSecondary, RSArbiter, RSOther, RSGhost:
		return false
	}
	return false
}
