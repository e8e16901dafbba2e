package unified

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// eventCount takes the arguments that name an event, and returns what counts the client's events that match it.
func eventCount(a *arguments) (client *clientEntity, want int, count func() int) {
	client, want = taken[*clientEntity](a, "client"), int(a.number("count"))
	name, assertions, err := expectedEvent(a.document("event"))
	if err != nil {
		a.fail("event: %w", err)
	}
	m := matcher{a.run.entities}
	return client, want, func() int { // called with the record locked
		n := 0
		for _, e := range client.recorder.events {
			if m.matchEvent(name, assertions, e) == nil {
				n++
			}
		}
		return n
	}
}

func assertEventCount(_ context.Context, _ *run, a *arguments) (any, error) {
	client, want, count := eventCount(a)
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	client.recorder.mu.Lock()
	defer client.recorder.mu.Unlock()
	return nil, equal("events", &want, count())
}

func waitForEvent(ctx context.Context, _ *run, a *arguments) (any, error) {
	client, want, count := eventCount(a)
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the events did not come within %v", patience))
	defer cancel()
	return nil, client.recorder.await(ctx, func() bool { return count() >= want })
}

func recordTopologyDescription(_ context.Context, c *run, a *arguments) (any, error) {
	client, id := taken[*clientEntity](a, "client"), a.text("id")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	if c.runner.Settle != nil {
		c.runner.Settle()
	}
	client.recorder.mu.Lock()
	defer client.recorder.mu.Unlock()
	return nil, c.entities.add(id, client.recorder.topology)
}

func assertTopologyType(_ context.Context, _ *run, a *arguments) (any, error) {
	topology, want := taken[event.TopologyDescription](a, "topologyDescription"), a.text("topologyType")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, equal("topologyType", &want, topology.Kind)
}

func waitForPrimaryChange(ctx context.Context, _ *run, a *arguments) (any, error) {
	client, prior := taken[*clientEntity](a, "client"), taken[event.TopologyDescription](a, "priorTopologyDescription")
	limit := patience
	if ms, ok := wholeNumber(a.optional("timeoutMS")); ok {
		limit = time.Duration(ms) * time.Millisecond
	}
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no other primary was found within %v", limit))
	defer cancel()
	return nil, client.recorder.await(ctx, func() bool {
		now := primaryOf(client.recorder.topology)
		return now != "" && now != primaryOf(prior)
	})
}

func primaryOf(t event.TopologyDescription) string {
	for _, s := range t.Servers {
		if s.Kind == "RSPrimary" {
			return s.Addr.String()
		}
	}
	return ""
}
