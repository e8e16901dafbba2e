package prove

import "time"

// Timing are the clients' and the replica set's times.
type Timing struct {
	ServerSelection time.Duration `json:"server_selection"`
	Connect         time.Duration `json:"connect"`
	Heartbeat       time.Duration `json:"heartbeat"`
	Election        time.Duration `json:"election"`
}

// DefaultTiming is short, so that an outage costs seconds and not minutes; the heartbeat is the shortest that the
// specification allows.
func DefaultTiming() Timing {
	return Timing{
		ServerSelection: time.Second,
		Connect:         300 * time.Millisecond,
		Heartbeat:       500 * time.Millisecond,
		Election:        200 * time.Millisecond,
	}
}
