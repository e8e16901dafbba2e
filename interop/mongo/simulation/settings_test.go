package simulation

import (
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// settings say how a life is led.
type settings struct {
	simlife.Load
	election time.Duration
}

// simulated are the settings of a life on the fake clock.
func simulated(seed uint64) settings {
	elections := []time.Duration{time.Second, 2 * time.Second, 10 * time.Second}
	return settings{simlife.Simulated(seed), elections[seed%3]}
}

// onTCP are the settings of a life on the real clock.
func onTCP(seed uint64, duration time.Duration) settings {
	return settings{simlife.OnTCP(seed, duration), 300 * time.Millisecond}
}

// heartbeat is the clients' heartbeat interval.
func (s settings) heartbeat() time.Duration { return max(time.Second, s.Scaled(10*time.Second)) }

// The streams of random numbers that come from one seed.
const (
	forOperation uint64 = iota
	forPlan
	forWatcher
)
