// Package topology has the server descriptions and topology descriptions of a client as immutable values, and pure
// functions on them: ParseHello makes a server description of a hello, Apply applies it to a topology description,
// and Select finds the suitable servers in one. The package has no sockets, no goroutines and no clock. Its sources
// are the Server Discovery and Monitoring (SDAM) and the Server Selection specifications.
//
// Begin with apply.go, replicaset.go. Then hello.go, errors.go (the effect of an error), seeds.go, select.go, staleness.go,
// explain.go.
package topology

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// Server is a server description: the result of the last check of one server. All fields are set before it is
// published; after that it is immutable.
type Server struct {
	Address string // "host:port", lower case
	Type    ServerType
	Error   error // why Kind is Unknown; nil before the first check

	RTT    time.Duration // exponentially weighted moving average
	HasRTT bool
	// MinRTT is the least of the recent round trip times, 0 while there are too few of them. Deadlines are compared with
	// it, because a single slow hello must not fail operations (Client-Side Operations Timeout).
	MinRTT time.Duration

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
	LastUpdateTime        time.Time // when the reply to hello arrived, by the client's clock

	MinWireVersion      int32
	MaxWireVersion      int32
	MaxDocumentSize     int32 // maxBsonObjectSize, bytes
	MaxMessageSize      int32 // maxMessageSizeBytes
	MaxBatchCount       int32 // maxWriteBatchSize, statements
	HelloOK             bool
	ReadOnly            bool
	ServerConnectionID  *int64
	ServiceID           bson.ObjectID // only behind a load balancer; zero if absent
	Compression         []string
	SASLSupportedMechs  []string
	ArbiterOnly, Hidden bool
}

// NewUnknown returns the description of an Unknown server: not checked yet (err is nil), or failed with err. tv is
// the topologyVersion of a state change error, nil for every other cause. It has no round trip time, as Server
// Selection, "Calculation of Average Round Trip Times", requires.
func NewUnknown(addr string, err error, tv *TopologyVersion) *Server {
	return &Server{Address: canonical(addr), Error: err, TopologyVersion: tv}
}

// NewLoadBalancer returns the description of a load balancer, which is never checked.
func NewLoadBalancer(addr string) *Server {
	return &Server{Address: canonical(addr), Type: LoadBalancer}
}

// Known reports whether the last check found the server's kind. PossiblePrimary does not come from a check of the
// server.
func (s *Server) Known() bool {
	return s.Type != Unknown && s.Type != PossiblePrimary
}

// DataBearing reports whether the server is data-bearing: SDAM, "Data-Bearing Server Type".
func (s *Server) DataBearing() bool {
	switch s.Type {
	case Standalone, Mongos, RSPrimary, RSSecondary, LoadBalancer:
		return true
	case Unknown, PossiblePrimary, RSArbiter, RSOther, RSGhost:
		return false
	}
	return false
}

// Writable reports whether the server accepts writes.
func (s *Server) Writable() bool {
	switch s.Type {
	case Standalone, Mongos, RSPrimary, LoadBalancer:
		return true
	case Unknown, PossiblePrimary, RSSecondary, RSArbiter, RSOther, RSGhost:
		return false
	}
	return false
}

// IsSocketFile reports whether an address is the path of a Unix domain socket (Connection String specification).
func IsSocketFile(addr string) bool { return strings.Contains(addr, "/") }

// canonical returns an address in lower case, except for the path of a Unix domain socket.
func canonical(addr string) string {
	if IsSocketFile(addr) {
		return addr
	}
	return strings.ToLower(addr)
}
