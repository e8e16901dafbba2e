package unified

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/address"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func started(name string) observed {
	command, _ := bson.Marshal(bson.D{{Key: name, Value: "c"}, {Key: "lsid", Value: 1}})
	id := int64(7)
	return observed{"command", "commandStartedEvent", &event.CommandStartedEvent{CommandName: name, DatabaseName: "db", Command: command, ServerConnectionID: &id}}
}

func TestMatchEvents(t *testing.T) {
	changed := event.TopologyDescriptionChangedEvent{
		PreviousDescription: event.TopologyDescription{Kind: "Unknown"}, NewDescription: event.TopologyDescription{Kind: "Single"},
	}
	find := []observed{started("find")}
	for _, c := range []struct {
		name, expected string
		extra          bool
		observed       []observed
		match          bool
	}{
		{"a command is a root-level document", `[{"commandStartedEvent": {"command": {"find": "c"}}}]`, false, find, true},
		{"another value in the command", `[{"commandStartedEvent": {"command": {"find": "d"}}}]`, false, find, false},
		{"the command's name", `[{"commandStartedEvent": {"commandName": "find"}}]`, false, find, true},
		{"another name", `[{"commandStartedEvent": {"commandName": "insert"}}]`, false, find, false},
		{"another database", `[{"commandStartedEvent": {"databaseName": "x"}}]`, false, find, false},
		{"the server's connection id", `[{"commandStartedEvent": {"hasServerConnectionId": true, "hasServiceId": false}}]`, false, find, true},
		{"no such id is wanted", `[{"commandStartedEvent": {"hasServerConnectionId": false}}]`, false, find, false},
		{"another event", `[{"commandSucceededEvent": {}}]`, false, find, false},
		{"an assertion that there is not", `[{"commandStartedEvent": {"colour": 1}}]`, false, find, false},
		{"fewer events than expected", `[{"commandStartedEvent": {}}, {"commandStartedEvent": {}}]`, false, find, false},
		{"more events than expected", `[]`, false, find, false},
		{"more events than expected, which are to be ignored", `[]`, true, find, true},
		{"no event before the expected ones is ignored", `[{"commandStartedEvent": {"commandName": "insert"}}]`, true, []observed{started("find"), started("insert")}, false},
		{
			"a pool's event", `[{"poolClearedEvent": {"interruptInUseConnections": true}}]`, false,
			[]observed{{"cmap", "poolClearedEvent", &event.PoolEvent{Interruption: true}}},
			true,
		},
		{
			"a connection closed for another reason", `[{"connectionClosedEvent": {"reason": "idle"}}]`, false,
			[]observed{{"cmap", "connectionClosedEvent", &event.PoolEvent{Reason: event.ReasonError}}},
			false,
		},
		{
			"a topology's change", `[{"topologyDescriptionChangedEvent": {"previousDescription": {"type": "Unknown"}, "newDescription": {"type": "Single"}}}]`, false,
			[]observed{{"sdam", "topologyDescriptionChangedEvent", &changed}},
			true,
		},
		{
			"another change", `[{"topologyDescriptionChangedEvent": {"newDescription": {"type": "Unknown"}}}]`, false,
			[]observed{{"sdam", "topologyDescriptionChangedEvent", &changed}},
			false,
		},
		{
			"a heartbeat that was awaited", `[{"serverHeartbeatStartedEvent": {"awaited": true}}]`, false,
			[]observed{{"sdam", "serverHeartbeatStartedEvent", &event.ServerHeartbeatStartedEvent{Awaited: true}}},
			true,
		},
		{
			"a heartbeat that was not", `[{"serverHeartbeatStartedEvent": {"awaited": true}}]`, false,
			[]observed{{"sdam", "serverHeartbeatStartedEvent", &event.ServerHeartbeatStartedEvent{}}},
			false,
		},
	} {
		var docs []bson.Raw
		if err := valueOf(t, c.expected).Unmarshal(&docs); err != nil {
			t.Fatal(err)
		}
		err := (&matcher{}).matchEvents(expectedEvents{Events: docs, IgnoreExtraEvents: c.extra}, c.observed)
		if (err == nil) != c.match {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestRecorderKeepsWhatIsObserved(t *testing.T) {
	for _, c := range []struct {
		name      string
		sensitive bool
		command   string
		empty     bool
		kept      bool
	}{
		{"a command", false, "find", false, true},
		{"a command to be ignored", false, "insert", false, false},
		{"configureFailPoint", true, "configureFailPoint", false, false},
		{"a sensitive command", false, "saslStart", true, false},
		{"a sensitive command, if asked for", true, "saslStart", true, true},
		{"a hello", false, "hello", false, true},
		{"a hello with credentials", false, "hello", true, false},
	} {
		r := newRecorder([]string{"commandStartedEvent"}, []string{"insert"}, c.sensitive)
		opts := options.Client()
		r.attach(opts, false)
		e := started(c.command).event.(*event.CommandStartedEvent)
		if c.empty {
			e.Command = nil
		}
		opts.Monitor.Started(context.Background(), e)
		opts.Monitor.Failed(context.Background(), &event.CommandFailedEvent{})
		if kept := len(r.of("command")) == 1; kept != c.kept {
			t.Errorf("%s: kept is %t", c.name, kept)
		}
		r.stop()
		opts.Monitor.Started(context.Background(), e)
		if n := len(r.of("command")); n > 1 {
			t.Errorf("%s: %d events after the record was stopped", c.name, n)
		}
	}
}

func TestRecorderCountsConnections(t *testing.T) {
	r := newRecorder(nil, nil, false)
	for _, e := range []string{event.ConnectionCheckedOut, event.ConnectionCheckedOut, event.ConnectionCheckedIn} {
		r.pool(&event.PoolEvent{Type: e})
	}
	if r.out != 1 {
		t.Errorf("%d connections are checked out, want 1", r.out)
	}
}

func TestAwaitEndsWithTheEventOrTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder([]string{"poolReadyEvent"}, nil, false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ready := func() bool { return len(r.events) > 0 }
		if err := r.await(ctx, ready); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without the event: %v", err)
		}
		time.AfterFunc(time.Second, func() { r.pool(&event.PoolEvent{Type: event.ConnectionPoolReady}) })
		if err := r.await(t.Context(), ready); err != nil {
			t.Errorf("with the event: %v", err)
		}
	})
}

func TestWaitForPrimaryChange(t *testing.T) {
	with := func(primary string) event.TopologyDescription {
		return event.TopologyDescription{Servers: []event.ServerDescription{{Kind: "RSSecondary", Addr: "s"}, {Kind: "RSPrimary", Addr: address.Address(primary)}}}
	}
	for _, c := range []struct {
		name       string
		prior, now event.TopologyDescription
		changed    bool
	}{
		{"a first primary", event.TopologyDescription{}, with("a"), true},
		{"another primary", with("a"), with("b"), true},
		{"the same primary", with("a"), with("a"), false},
		{"no primary any more", with("a"), event.TopologyDescription{}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &run{entities: newEntities()}
			client := &clientEntity{recorder: newRecorder(nil, nil, false)}
			for name, e := range map[string]any{"client": client, "prior": c.prior} {
				if err := r.entities.add(name, e); err != nil {
					t.Fatal(err)
				}
			}
			time.AfterFunc(time.Second, func() {
				client.recorder.serverMonitor().TopologyDescriptionChanged(&event.TopologyDescriptionChangedEvent{NewDescription: c.now})
			})
			a, err := newArguments(r, valueOf(t, `{"client": "client", "priorTopologyDescription": "prior"}`).Document())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := waitForPrimaryChange(t.Context(), r, a); (err == nil) != c.changed {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}
