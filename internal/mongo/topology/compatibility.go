package topology

import "fmt"

// The range of wire versions that this client supports. The first belongs to MongoDB 3.6.
const (
	MinWireVersion = 6
	MaxWireVersion = 29

	minServerVersion = "3.6"
)

// IncompatibleError means that the client and one server have no wire version in common. No operation can be sent
// then.
type IncompatibleError struct {
	Address  string
	Min, Max int32 // the server's range of wire versions
}

// Error returns the text that SDAM, "Checking wire protocol compatibility", prescribes.
func (e *IncompatibleError) Error() string {
	if e.Min > MaxWireVersion {
		return fmt.Sprintf("Server at %s requires wire version %d, but this version of Holdfast only supports up to %d.",
			e.Address, e.Min, MaxWireVersion)
	}
	return fmt.Sprintf("Server at %s reports wire version %d, but this version of Holdfast requires at least %d (MongoDB %s).",
		e.Address, e.Max, MinWireVersion, minServerVersion)
}

// incompatibility returns an *IncompatibleError about the first known server that is incompatible, or nil.
func incompatibility(servers []*Server) error {
	for _, s := range servers {
		if s.Known() && (s.MinWireVersion > MaxWireVersion || s.MaxWireVersion < MinWireVersion) {
			return &IncompatibleError{Address: s.Address, Min: s.MinWireVersion, Max: s.MaxWireVersion}
		}
	}
	return nil
}
