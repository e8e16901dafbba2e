package cbsimulation

// defect is a defect of a client or a server that a life must show.
type defect uint8

const (
	none               defect = iota
	incrementsRepeated        // the client sends an increment again although the first one may have been applied
	ambiguousRepeated         // the client sends a write again whose outcome the node called ambiguous
	olderMapAccepted          // the client takes an older map
	levelNotSent              // a write is acknowledged before a majority has it
	refusedAfterApply         // the server applies a write, and answers that the vbucket is not its own
)

// defects switches the defects of the servers on. The returned function ends them.
func (c *cast) defects() func() { return func() {} }
