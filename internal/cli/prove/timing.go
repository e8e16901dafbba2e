package prove

import "time"

// Timing has the timeouts and intervals of the clients and of the servers.
type Timing struct {
	Connect time.Duration

	// MongoDB's.
	ServerSelection time.Duration
	Heartbeat       time.Duration
	Election        time.Duration

	// Couchbase's.
	KeyValue  time.Duration // timeout of an operation
	Durable   time.Duration // timeout of a durable operation
	BlackHole time.Duration // how long a node is a black hole
	Lock      time.Duration // how long a document is locked
	Pause     time.Duration // of an application after an error, before it calls the client again
}

// patience is the time after which a client gives an operation up.
func (t Timing) patience() time.Duration { return max(t.ServerSelection, t.KeyValue) }

// slower returns times that are longer by a factor, except the heartbeat: the less often a client looks, the later it knows.
func (t Timing) slower(factor time.Duration) Timing {
	for _, d := range []*time.Duration{&t.Connect, &t.ServerSelection, &t.Election, &t.KeyValue, &t.Durable, &t.BlackHole, &t.Lock, &t.Pause} {
		*d *= factor
	}
	return t
}
