package cluster

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Server Monitoring, "Measuring RTT".
func TestTheMinimumRoundTripTime(t *testing.T) {
	ms := func(n ...int) []time.Duration {
		var all []time.Duration
		for _, n := range n {
			all = append(all, time.Duration(n)*time.Millisecond)
		}
		return all
	}
	for _, c := range []struct {
		name    string
		samples []time.Duration
		want    time.Duration
	}{
		{"without a sample it is 0", nil, 0},
		{"one sample is too few", ms(5), 0},
		{"of two samples it is the least", ms(5, 3), 3 * time.Millisecond},
		{"one slow sample changes nothing", ms(5, 5000), 5 * time.Millisecond},
		{"ten samples count", ms(1, 9, 9, 9, 9, 9, 9, 9, 9, 9), time.Millisecond},
		{"the eleventh sample replaces the first", ms(1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8), 8 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r recentRTTs
			for _, s := range c.samples {
				r.add(s)
			}
			if got := r.min(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestAServersDescriptionHasItsMinimumRoundTripTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := make(chan time.Duration, 10)
		p := &peer{hello: standalone(), script: func(*question) bool {
			sleep(t.Context(), <-took, nil)
			return false
		}}
		for _, d := range []time.Duration{40, 30, 5000, 50} {
			took <- d * time.Millisecond
		}
		c := start(t, network{addrA: p}, nil)
		for i, want := range []time.Duration{0, 30, 30, 30} {
			pass(t, 6*time.Second)
			if got := c.Snapshot().Description.Servers[0].MinRTT; got != want*time.Millisecond {
				t.Errorf("after check %d: %v, want %v", i+1, got, want*time.Millisecond)
			}
			pass(t, c.cfg.HeartbeatInterval-6*time.Second)
		}
		p.set(func(p *peer) { p.script = nil })
		if err := operation(t.Context(), selectedNow(t, c)); err != nil {
			t.Fatal(err)
		}
		if got := c.Snapshot().Description.Servers[0].MinRTT; got != 30*time.Millisecond {
			t.Errorf("after the handshake of an application's connection: %v", got)
		}
		p.down(errDown)
		pass(t, c.cfg.HeartbeatInterval)
		p.set(func(p *peer) {
			p.dial = nil
			p.script = func(*question) bool { sleep(t.Context(), 60*time.Millisecond, nil); return false }
		})
		pass(t, c.cfg.HeartbeatInterval+time.Second)
		if got := c.Snapshot().Description.Servers[0]; !got.HasRTT || got.MinRTT != 0 {
			t.Errorf("after the server was Unknown: %v", got.MinRTT)
		}
	})
}

// Server Selection's test plan, "Calculating Round Trip Time": the average is 0 after a network error of a check, and the
// first sample after that is the average.
func TestTheAverageBeginsAnewAfterAFailedCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := func(d time.Duration) func(*question) bool {
			return func(*question) bool {
				sleep(t.Context(), d, nil)
				return false
			}
		}
		p := &peer{hello: standalone(), script: takes(40 * time.Millisecond)}
		c := start(t, network{addrA: p}, nil)
		check := func(when string, want time.Duration) {
			t.Helper()
			if s := c.Snapshot().Description.Servers[0]; s.RTT != want || s.HasRTT != (want > 0) {
				t.Errorf("%s the average is %v, want %v", when, s.RTT, want)
			}
		}
		pass(t, time.Second)
		check("at first", 40*time.Millisecond)
		p.down(errDown)
		pass(t, c.cfg.HeartbeatInterval)
		check("after the error", 0)
		p.set(func(p *peer) { p.dial, p.script = nil, takes(60*time.Millisecond) })
		pass(t, MinHeartbeatInterval+c.cfg.HeartbeatInterval)
		check("after the server came back", 60*time.Millisecond)
	})
}

// SDAM, "roundTripTime": "if it changes from one known type to another (e.g. from RSPrimary to RSSecondary) its RTT is updated
// normally, not set to null nor restarted from scratch".
func TestTheAverageGoesOnWhenAServerChangesItsType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delay atomic.Int64
		delay.Store(int64(40 * time.Millisecond))
		p := &peer{hello: member(true, addrA), script: func(*question) bool {
			sleep(t.Context(), time.Duration(delay.Load()), nil)
			return false
		}}
		c := start(t, network{addrA: p}, nil)
		pass(t, time.Second)
		delay.Store(int64(90 * time.Millisecond))
		p.set(func(p *peer) { p.hello = member(false, addrA) })
		pass(t, c.cfg.HeartbeatInterval)
		s := c.Snapshot().Description.Servers[0]
		if want := 50 * time.Millisecond; s.Type != topology.RSSecondary || s.RTT != want || s.MinRTT != 40*time.Millisecond {
			t.Errorf("%v: the average is %v, want %v, the minimum %v", s.Type, s.RTT, want, s.MinRTT)
		}
	})
}
