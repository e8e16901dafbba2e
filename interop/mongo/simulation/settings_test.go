package simulation

import (
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// settings say how a life is led.
type settings struct {
	simlife.Load
	election time.Duration
	routers  int  // 0: the clients reach the members themselves
	succeed  int  // how many of 100 calls must succeed, at least
	calm     bool // no fault, but that the primary steps down now and then
}

// simulated are the settings of a life on the fake clock.
func simulated(seed uint64) settings {
	elections := []time.Duration{time.Second, 2 * time.Second, 10 * time.Second}
	return settings{Load: simlife.Simulated(seed), election: elections[seed%3], succeed: 80}
}

// routed are the settings of a life on the fake clock behind two routers: of 200 clients, one of each worker. All begin their operations at
// nearly the same time, and half of them do not try again: a router that dies then has many.
func routed(seed uint64) settings {
	s := simulated(seed)
	s.Workers, s.Operations, s.routers = 200, 30, 2
	s.Faults += 20
	s.succeed = 60
	return s
}

// calm are the settings of a short life behind two routers without faults, in which half of the operations are scans: what may break in a failure
// must hold there.
func calm(seed uint64) settings {
	s := routed(seed)
	s.Workers, s.Operations, s.Duration, s.calm = 60, 20, 5*time.Minute, true
	return s
}

// onTCP are the settings of a life on the real clock.
func onTCP(seed uint64, duration time.Duration) settings {
	return settings{Load: simlife.OnTCP(seed, duration), election: 300 * time.Millisecond}
}

// heartbeat is the clients' heartbeat interval.
func (s settings) heartbeat() time.Duration { return max(time.Second, s.Scaled(10*time.Second)) }

// The streams of random numbers that come from one seed.
const (
	forOperation uint64 = iota
	forPlan
	forWatcher
)
