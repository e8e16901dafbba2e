package currentop

import "time"

// Use is what currentOp tells of a cursor or a transaction while no command uses it.
type Use struct {
	Began, Last   time.Time
	Docs, Batches int64
	Command       []byte // that began it
	Tailable      bool
	AwaitsData    bool
	NoTimeout     bool
	Address, App  string // of the client
	Connection    int64
}
