package topology

import "fmt"

// The wire versions that this client speaks: from MongoDB 3.6 on.
const (
	MinWireVersion = 6
	MaxWireVersion = 29

	minServerVersion = "3.6"
)

// IncompatibleError is why no operation can be sent: the client and one server have no wire version in common.
type IncompatibleError struct {
	Address  string
	Min, Max int32 // what the server speaks
}

// Error uses the words of SDAM, "Checking wire protocol compatibility".
func (e *IncompatibleError) Error() string {
	if e.Min > MaxWireVersion {
		return fmt.Sprintf("Server at %s requires wire version %d, but this version of Holdfast only supports up to %d.",
			e.Address, e.Min, MaxWireVersion)
	}
	return fmt.Sprintf("Server at %s reports wire version %d, but this version of Holdfast requires at least %d (MongoDB %s).",
		e.Address, e.Max, MinWireVersion, minServerVersion)
}

// incompatibility returns an *IncompatibleError about the first server that is known and incompatible.
func incompatibility(servers []*Server) error {
	for _, s := range servers {
		if s.Known() && (s.MinWireVersion > MaxWireVersion || s.MaxWireVersion < MinWireVersion) {
			return &IncompatibleError{Address: s.Address, Min: s.MinWireVersion, Max: s.MaxWireVersion}
		}
	}
	return nil
}
