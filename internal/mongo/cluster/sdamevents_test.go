package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// sdamListener records the events of the topology as texts.
type sdamListener struct {
	mu     sync.Mutex
	events []string
	ids    map[string]bool // the topology identifiers
	inCall bool
	t      *testing.T
}

func (l *sdamListener) add(id fmt.Stringer, format string, args ...any) {
	l.mu.Lock()
	if l.inCall {
		l.t.Error("two events were published at the same time")
	}
	l.inCall = true
	l.events = append(l.events, strings.ReplaceAll(fmt.Sprintf(format, args...), ":27017", ""))
	if id != nil {
		l.ids[id.String()] = true
	}
	l.mu.Unlock()
	sleep(context.Background(), time.Microsecond, nil) // others would overtake it here
	l.mu.Lock()
	l.inCall = false
	l.mu.Unlock()
}

func (l *sdamListener) monitor() *event.ServerMonitor {
	return &event.ServerMonitor{
		TopologyOpening: func(e *event.TopologyOpeningEvent) { l.add(e.TopologyID, "topology opening") },
		TopologyClosed:  func(e *event.TopologyClosedEvent) { l.add(e.TopologyID, "topology closed") },
		ServerOpening:   func(e *event.ServerOpeningEvent) { l.add(e.TopologyID, "%s opening", e.Address) },
		ServerClosed:    func(e *event.ServerClosedEvent) { l.add(e.TopologyID, "%s closed", e.Address) },
		ServerDescriptionChanged: func(e *event.ServerDescriptionChangedEvent) {
			l.add(e.TopologyID, "%s %s -> %s", e.Address, e.PreviousDescription.Kind, e.NewDescription.Kind)
		},
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			l.add(e.TopologyID, "topology %s -> %s", e.PreviousDescription.Kind, e.NewDescription.Kind)
		},
		ServerHeartbeatStarted: func(e *event.ServerHeartbeatStartedEvent) {
			l.add(nil, "%s started, awaited %t", e.ConnectionID, e.Awaited)
		},
		ServerHeartbeatSucceeded: func(e *event.ServerHeartbeatSucceededEvent) {
			l.add(nil, "%s succeeded, awaited %t", e.ConnectionID, e.Awaited)
		},
		ServerHeartbeatFailed: func(e *event.ServerHeartbeatFailedEvent) {
			l.add(nil, "%s failed, awaited %t", e.ConnectionID, e.Awaited)
		},
	}
}

func (l *sdamListener) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := l.events
	l.events = nil
	return events
}

func listening(t *testing.T) (*sdamListener, func(*Config)) {
	l := &sdamListener{t: t, ids: make(map[string]bool)}
	return l, func(cfg *Config) { cfg.ServerMonitor, cfg.Streaming = l.monitor(), true }
}

func (l *sdamListener) want(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := l.take(); !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheEventsOfAPollingMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		l, configure := listening(t)
		c := start(t, network{addrA: p}, configure)
		pass(t, time.Second)
		l.want(t, "at the start",
			"topology opening", "topology Unknown -> Unknown", "a opening", "a[-1] started, awaited false", "a[-1] succeeded, awaited false",
			"a Unknown -> Standalone", "topology Unknown -> Single")
		pass(t, c.cfg.HeartbeatInterval)
		l.want(t, "a check that changes nothing", "a[-1] started, awaited false", "a[-1] succeeded, awaited false")
		p.down(errDown)
		pass(t, c.cfg.HeartbeatInterval)
		l.want(t, "a check that fails, and the second one",
			"a[-1] started, awaited false", "a[-1] failed, awaited false", "a Standalone -> Unknown", "topology Single -> Single",
			"a[-2] started, awaited false", "a[-2] failed, awaited false",
			"a Unknown -> Unknown", "topology Single -> Single") // the second error is another one
		c.Close()
		l.want(t, "at the end", "a closed", "topology Single -> Unknown", "topology closed")
		c.Close()
		l.want(t, "a second Close")
		if len(l.ids) != 1 {
			t.Errorf("%d topology identifiers", len(l.ids))
		}
	})
}

func TestTheEventsOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreamer(t)
		l, configure := listening(t)
		c := start(t, network{addrA: &s.peer}, configure)
		pass(t, time.Second)
		l.want(t, "at the start",
			"topology opening", "topology Unknown -> Unknown", "a opening", "a[-1] started, awaited false", "a[-1] succeeded, awaited false",
			"a Unknown -> Standalone", "topology Unknown -> Single", "a[-1] started, awaited true")
		pass(t, c.cfg.HeartbeatInterval)
		l.want(t, "the first hello of the stream; the hellos that measure have no events",
			"a[-1] succeeded, awaited true", "a[-1] started, awaited true")
		s.become(member(true, addrA))
		pass(t, time.Second)
		l.want(t, "a change",
			"a[-1] succeeded, awaited true", "a Standalone -> RSPrimary", "topology Single -> Single", "a[-1] started, awaited true")
		c.Close()
		l.want(t, "at the end: the started check ends too",
			"a[-1] failed, awaited true", "a closed", "topology Single -> Unknown", "topology closed")
	})
}

func TestTheEventsOfAMemberThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, configure := listening(t)
		set := network{addrA: {hello: member(true, addrA, addrB)}, addrB: {hello: member(false, addrA, addrB)}}
		start(t, set, configure)
		pass(t, time.Second)
		got := slices.DeleteFunc(l.take(), func(e string) bool { return strings.Contains(e, "awaited") })
		want := []string{
			"topology opening", "topology Unknown -> Unknown", "a opening", "a Unknown -> RSPrimary", "b opening",
			"topology Unknown -> ReplicaSetWithPrimary", "b Unknown -> RSSecondary", "topology ReplicaSetWithPrimary -> ReplicaSetWithPrimary",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		set[addrA].set(func(p *peer) { p.hello = member(true, addrA) })
		pass(t, 10*time.Second)
		if got := l.take(); !slices.Contains(got, "b closed") {
			t.Errorf("no event of the member that left: %q", got)
		}
	})
}

func TestTheEventsOfALoadBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, configure := listening(t)
		c := start(t, network{addrA: {}}, func(cfg *Config) {
			configure(cfg)
			cfg.Topology.LoadBalanced = true
		})
		pass(t, time.Second)
		l.want(t, "at the start", "topology opening", "topology Unknown -> LoadBalanced", "a opening", "a Unknown -> LoadBalancer",
			"topology LoadBalanced -> LoadBalanced")
		c.Close()
		l.want(t, "at the end", "a closed", "topology LoadBalanced -> Unknown", "topology closed")
	})
}

// A listener may take its time, and may use the client: no lock is held.
func TestAListenerOfEventsDoesNotStopTheOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) {
			cfg.ServerMonitor = &event.ServerMonitor{ServerDescriptionChanged: func(*event.ServerDescriptionChangedEvent) { <-release }}
		})
		synctest.Wait()
		if err := operation(t.Context(), selectedNow(t, c)); err != nil {
			t.Error(err)
		}
		close(release)
	})
}

func TestWithoutAListenerNothingIsMadeForTheEvents(t *testing.T) {
	s := &Server{address: addrA, cluster: new(Cluster)}
	m := &monitor{server: s}
	if n := testing.AllocsPerRun(100, func() {
		h := m.beginHeartbeat()
		h.succeeded(0, nil, nil)
		h.failed(0, errDown)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The description of an event has every field of the official type that a hello can fill.
func TestTheDescriptionOfAnEvent(t *testing.T) {
	set, minutes := int64(7), int64(30)
	d := serverDescription(&topology.Server{
		Address: addrA, Type: topology.RSPrimary, Me: "me:1", Hosts: []string{"h:1"}, Passives: []string{"p:1"}, Arbiters: []string{"a:1"},
		SetName: "rs", SetVersion: &set, ElectionID: [12]byte{1}, Primary: "h:1", TopologyVersion: &topology.TopologyVersion{ProcessID: [12]byte{2}, Counter: 3},
		SessionTimeoutMinutes: &minutes, LastWriteDate: time.Unix(9, 0), MinWireVersion: 1, MaxWireVersion: 2, MaxDocumentSize: 3, MaxMessageSize: 4,
		MaxBatchCount: 5, HelloOK: true, ReadOnly: true, ServiceID: [12]byte{4}, Compression: []string{"zlib"},
	})
	got := fmt.Sprintf("%s %s %s %v %v %v %v %s %d %v %s %v %d %d %s %d %d %d %d %d %t %t %v %v", d.Addr, d.CanonicalAddr, d.Kind, d.Hosts, d.Passives,
		d.Arbiters, d.Members, d.SetName, d.SetVersion, d.ElectionID[0], d.Primary, d.TopologyVersionProcessID[0], d.TopologyVersionCounter,
		*d.SessionTimeoutMinutes, d.LastWriteTime.UTC().Format(time.TimeOnly), d.MinWireVersion, d.MaxWireVersion, d.MaxDocumentSize, d.MaxMessageSize,
		d.MaxBatchCount, d.HelloOK, d.ReadOnly, d.ServiceID[0], d.Compression)
	const want = "a:27017 me:1 RSPrimary [h:1] [p:1] [a:1] [h:1 p:1 a:1] rs 7 1 h:1 2 3 30 00:00:09 1 2 3 4 5 true true 4 [zlib]"
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}
