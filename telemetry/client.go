package telemetry

// Client is a client of a database. Its functions return what is true now. They are safe for concurrent use, also after the client's end, and
// wait for no network.
type Client struct {
	System System
	Pools  func() []Pool
	Limits func() Limits
}

// Limits are the states of what limits retries and attempts.
type Limits struct {
	// Budget is the number of tokens in the budget of retries, one of which each retry costs; nil if there is no budget.
	Budget *float64
	// Breakers are the circuit breakers of servers.
	Breakers []Breaker
}

// Breaker is the circuit breaker of a server.
type Breaker struct {
	Address string
	// State is "closed", "open" or "half-open".
	State string
}
