package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// changes records each change of a topology as text: the servers and their kinds before and after.
type changes []string

func (c *changes) listen(cfg *Config) {
	cfg.ServerMonitor = &event.ServerMonitor{TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
		*c = append(*c, fmt.Sprintf("%s -> %s", shown(e.PreviousDescription), shown(e.NewDescription)))
	}}
}

func shown(d event.TopologyDescription) string {
	if len(d.Servers) == 0 {
		return "nothing"
	}
	var servers []string
	for _, s := range d.Servers {
		servers = append(servers, fmt.Sprintf("%s %v", strings.TrimSuffix(string(s.Addr), ":27017"), s.Kind))
	}
	return strings.Join(servers, ", ")
}

func TestEveryChangeOfTheTopologyIsReportedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got changes
		one, two := &peer{hello: member(true, addrA, addrB)}, &peer{hello: member(false, addrA, addrB)}
		c := start(t, network{addrA: one, addrB: two}, got.listen)
		s := selected(t, c)
		conn := checkOut(t, s) // its handshake changes the topology too
		c.ConnectionFailed(s, conn, &IOError{Stage: retry.StageInFlight, Err: syscall.ECONNRESET})
		s.CheckIn(conn)
		synctest.Wait()
		want := changes{
			"nothing -> a Unknown",
			"a Unknown -> a RSPrimary, b Unknown",
			"a RSPrimary, b Unknown -> a RSPrimary, b RSSecondary",
			"a RSPrimary, b RSSecondary -> a Unknown, b RSSecondary",
		}
		if !slices.Equal(got, want) {
			t.Errorf("reported\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestAFailedCheckIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got changes
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, got.listen)
		selected(t, c)
		p.down(errDown)
		pass(t, c.cfg.HeartbeatInterval)
		if last := got[len(got)-1]; last != "a Unknown -> a Unknown" && last != "a Standalone -> a Unknown" {
			t.Errorf("the last change is %q", last)
		}
		if err := c.Snapshot().Description.Servers[0].Error; !errors.Is(err, errDown) {
			t.Errorf("the server's error is %v", err)
		}
	})
}

func TestAListenerMayUseTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Cluster
		started := make(chan struct{})
		c = start(t, network{addrA: {hello: standalone()}}, func(cfg *Config) {
			cfg.ServerMonitor = &event.ServerMonitor{ServerDescriptionChanged: func(e *event.ServerDescriptionChangedEvent) {
				if e.NewDescription.Kind == topology.Standalone.String() {
					<-started
					c.RequestChecks()
					c.ReplaceSeeds([]string{addrA})
				}
			}}
		})
		close(started)
		if err := operation(t.Context(), selected(t, c)); err != nil {
			t.Error(err)
		}
	})
}

// Source: Polling SRV Records for mongos Discovery.
func TestSeedsAreReplacedWhileOperationsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got changes
		a, b := &peer{hello: mongos()}, &peer{hello: mongos()}
		c := start(t, network{addrA: a, addrB: b}, got.listen)
		old := selected(t, c)
		conn := checkOut(t, old)
		c.ReplaceSeeds([]string{addrB})
		next := selected(t, c)
		if next == old || next.Address() != addrB {
			t.Errorf("%s is selected", next.Address())
		}
		if err := operation(t.Context(), next); err != nil {
			t.Error(err)
		}
		if err := ping(t.Context(), conn); err != nil {
			t.Errorf("the operation on the removed server: %v", err)
		}
		old.CheckIn(conn)
		counters(t, old, 0, 0, 0)
		if !slices.Contains(got, "a Mongos -> b Unknown") {
			t.Errorf("reported %q", []string(got))
		}
	})
}

// A poll of an SRV record may end after the client was closed.
func TestSeedsAreNotReplacedAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got changes
		c := start(t, network{addrA: {hello: mongos()}, addrB: {hello: mongos()}}, got.listen)
		selected(t, c)
		c.Close()
		reported := len(got)
		c.ReplaceSeeds([]string{addrB})
		if len(got) != reported || c.Snapshot().Description.Server(addrA) == nil {
			t.Errorf("the topology is %s now", c.Snapshot().Description)
		}
	})
}

// An operation on a pinned connection may begin after its server left the topology.
func TestAnOperationOnAPinnedConnectionOfARemovedServerCanBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &peer{hello: mongos()}
		c := start(t, network{addrA: a, addrB: {hello: mongos()}, addrC: {hello: mongos()}}, nil)
		s := selected(t, c)
		conn := checkOut(t, s)
		s.EndUse()
		c.ReplaceSeeds([]string{addrB})
		synctest.Wait()
		c.ReplaceSeeds([]string{addrC})
		synctest.Wait()
		s.BeginUse()
		a.hang()
		if !c.Busy() {
			t.Error("the operation does not count as in flight")
		}
		running := async(func() error { return ping(context.Background(), conn) })
		unsettled(t, "the operation", running)
		c.Interrupt()
		if err := settled(t, "the operation", running); !errors.Is(err, ErrDisconnected) {
			t.Errorf("error %v", err)
		}
		s.CheckIn(conn)
		a.wantEnded(t, 0)
	})
}

func TestAServerThatLeftAndCameBackHasANewPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{addrA: {hello: mongos()}, addrB: {hello: mongos()}}, func(cfg *Config) {
			cfg.Topology.Seeds = []string{addrA, addrB}
		})
		synctest.Wait()
		before := c.servers[addrB]
		c.ReplaceSeeds([]string{addrA})
		c.ReplaceSeeds([]string{addrA, addrB})
		synctest.Wait()
		after := c.servers[addrB]
		if after == before {
			t.Error("the server has its closed pool again")
		}
		if err := operation(t.Context(), after); err != nil {
			t.Error(err)
		}
	})
}
