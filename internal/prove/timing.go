package prove

import "time"

// Timing has the timeouts and intervals of the clients and of the replica set.
type Timing struct {
	ServerSelection time.Duration `json:"server_selection"`
	Connect         time.Duration `json:"connect"`
	Heartbeat       time.Duration `json:"heartbeat"`
	Election        time.Duration `json:"election"`
}

// DefaultTiming returns short timeouts, so that an outage takes seconds and not minutes. The heartbeat is the
// shortest that the specification allows.
func DefaultTiming() Timing {
	return Timing{
		ServerSelection: time.Second,
		Connect:         300 * time.Millisecond,
		Heartbeat:       500 * time.Millisecond,
		Election:        200 * time.Millisecond,
	}
}
