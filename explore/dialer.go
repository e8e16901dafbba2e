package explore

import "github.com/holdfast-db/holdfast/internal/explore/testrun"

// Dialer connects to the servers of one run, with DialContext(ctx, network, address), by the address that the connection string and the
// server's hello give. It returns the errors of a dial on TCP. It is safe for concurrent use.
//
// With [InMemory], a dial after the run has ended never returns: a client that nobody has closed would try again for ever, and the
// bubble's clock would never stop. So its goroutines are seen to be left.
type Dialer = testrun.Dialer
