package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/mongotest"
)

const testTimeout = 30 * time.Second

func watch(t *testing.T, uri string) *Watcher {
	t.Helper()
	w, err := Open(uri, "test", testTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	if err := w.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return w
}

func rolesOf(v *View) map[string]int {
	n := make(map[string]int)
	for _, m := range v.Members {
		n[m.Role]++
	}
	return n
}

func TestTheViewOfEachKindOfDeployment(t *testing.T) {
	hidden := mongotest.Member(2, mongotest.Hidden(), mongotest.Priority(0))
	arbiter := mongotest.Member(2, mongotest.Arbiter())
	tagged := mongotest.Member(1, mongotest.Tags(map[string]string{"dc": "east"}))
	for _, c := range []struct {
		name  string
		rs    *mongotest.Deployment
		kind  string
		roles map[string]int
	}{
		{"a set", mongotest.RunReplicaSetT(t, 3, tagged), "ReplicaSetWithPrimary", map[string]int{"primary": 1, "secondary": 2}},
		{"a set with an arbiter", mongotest.RunReplicaSetT(t, 3, arbiter), "ReplicaSetWithPrimary", map[string]int{"primary": 1, "secondary": 1, "arbiter": 1}},
		{"a set with a hidden member", mongotest.RunReplicaSetT(t, 3, hidden), "ReplicaSetWithPrimary", map[string]int{"primary": 1, "secondary": 1}},
		{"a sharded cluster", mongotest.RunShardedT(t, 3, 2), "Sharded", map[string]int{"mongos": 2}},
		{"a standalone", mongotest.RunStandaloneT(t), "Single", map[string]int{"standalone": 1}},
	} {
		v := watch(t, c.rs.URI()).View()
		if v.Kind != c.kind || !maps.Equal(rolesOf(v), c.roles) || len(v.Choices) != 5 {
			t.Errorf("%s: %+v", c.name, v)
		}
		for _, m := range v.Members {
			if m.RoundTripMS == nil || m.Release != "7.0" || m.Error != "" {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		if c.name == "a set" && !slices.ContainsFunc(v.Members, func(m Member) bool { return m.Tags["dc"] == "east" }) {
			t.Errorf("no member has the tag: %+v", v.Members)
		}
	}
}

// The JSON form is stable: a name that is missing here breaks the programs that read it.
func TestTheJSONOfAView(t *testing.T) {
	text, err := json.Marshal(watch(t, mongotest.RunReplicaSetT(t, 3).URI()).View())
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"at", "kind", "set_name", "members", "choices", "address", "role", "round_trip_ms", "release", "wire_version", "last_write", "pool", "state",
		"connections", "in_use", "cleared", "mode", "default", "why", "others",
	} {
		if !strings.Contains(string(text), `"`+field+`":`) {
			t.Errorf("no field %s in %s", field, text)
		}
	}
}

func TestNoServerAnswers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	for uri, says := range map[string]string{
		"mongodb://127.0.0.1:1,127.0.0.1:2/":                                       "no server answers:\n  127.0.0.1:1: ",
		"mongodb://" + mongotest.RunStandaloneT(t).Addr() + "/?replicaSet=missing": `it belongs to no replica set; the connection string asks for "missing"`,
		strings.Replace(mongotest.RunReplicaSetT(t, 1).URI(), "rs0", "rs9", 1):     `it belongs to the replica set "rs0"; the connection string asks for "rs9"`,
	} {
		w, err := Open(uri, "test", testTimeout)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Ready(ctx)
		w.Close(t.Context())
		var none *UnreachableError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), says) || len(none.Servers) == 0 {
			t.Errorf("%s: %v, want %q", uri, err, says)
		}
	}
}

func TestASilentServerIsWaitedForUntilTheContextEnds(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	w, err := Open("mongodb://"+silent.Addr().String(), "test", testTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.Ready(ctx); err == nil || !strings.Contains(err.Error(), "it did not answer in time") {
		t.Errorf("%v", err)
	}
}

// until returns the changes up to one that holds.
func until(t *testing.T, w *Watcher, view *View, holds func(Change) bool) []Change {
	t.Helper()
	limit := time.After(testTimeout)
	var all []Change
	for {
		select {
		case <-w.Changed():
			next := w.View()
			changes := Changes(view, next)
			all, view = append(all, changes...), next
			if slices.ContainsFunc(changes, holds) {
				return all
			}
		case <-limit:
			t.Fatalf("it does not come; there were only %v", all)
		}
	}
}

func TestAFailoverIsAChange(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.ElectionTimeout(200*time.Millisecond))
	w := watch(t, rs.URI())
	primary := rs.Primary()
	view, was := w.View(), rs.Addr(primary)
	rs.Kill(primary)
	// On a busy machine there may be other elections before and after.
	missing := []*regexp.Regexp{
		regexp.MustCompile(`^` + regexp.QuoteMeta(was) + `: role .* -> unknown$`), regexp.MustCompile(`^` + regexp.QuoteMeta(was) + `: pool ready -> paused$`),
		regexp.MustCompile(`: role secondary -> primary$`), regexp.MustCompile(`^reads with primary: `),
	}
	until(t, w, view, func(c Change) bool {
		missing = slices.DeleteFunc(missing, func(e *regexp.Regexp) bool { return e.MatchString(c.String()) })
		return len(missing) == 0
	})
}

func TestChangesOfMembers(t *testing.T) {
	ms := 1.0
	old := &View{Kind: "ReplicaSetWithPrimary", Members: []Member{
		{Address: "a", Role: "primary", WireVersion: 21, Release: "7.0", RoundTripMS: &ms}, {Address: "b", Role: "secondary", WireVersion: 21, Release: "7.0"},
	}, Choices: []Choice{{Mode: "primary", Members: []string{"a"}}}}
	next := &View{Kind: "ReplicaSetNoPrimary", Members: []Member{
		{Address: "a", Role: "unknown", Error: "refused"}, {Address: "c", Role: "secondary"},
	}, Choices: []Choice{{Mode: "primary"}}}
	var got []string
	for _, c := range Changes(old, next) {
		got = append(got, c.String())
	}
	want := []string{
		"the deployment: topology replica set, with a primary -> replica set, without a primary", "a: role primary -> unknown", "a: error none -> refused",
		"c: added (secondary)", "b: removed (was secondary)", "reads with primary: a -> none",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	next.Members[0] = Member{Address: "a", Role: "primary", WireVersion: 25, Release: "8.0", Tags: map[string]string{"x": "1"}}
	if text := Changes(old, next)[1].String() + Changes(old, next)[2].String(); text != "a: version 7.0 -> 8.0a: tags none -> x=1" {
		t.Error(text)
	}
	if c := Changes(old, old); len(c) != 0 {
		t.Errorf("%v", c)
	}
}

func TestAPoolCountsItsConnections(t *testing.T) {
	p := newPool()
	for _, e := range []struct {
		kind string
		id   int64
		want Pool
	}{
		{event.ConnectionPoolReady, 0, Pool{State: "ready"}},
		{event.ConnectionReady, 1, Pool{State: "ready", Connections: 1}},
		{event.ConnectionClosed, 2, Pool{State: "ready", Connections: 1}}, // it was never ready
		{event.ConnectionCheckedOut, 1, Pool{State: "ready", Connections: 1, InUse: 1}},
		{event.ConnectionCheckedIn, 1, Pool{State: "ready", Connections: 1}},
		{event.ConnectionPoolCleared, 0, Pool{State: "paused", Connections: 1, Cleared: 1}},
		{event.ConnectionClosed, 1, Pool{State: "paused", Cleared: 1}},
	} {
		if p.note(&event.PoolEvent{Type: e.kind, ConnectionID: e.id}); p.Pool != e.want {
			t.Errorf("after %s: %+v, want %+v", e.kind, p.Pool, e.want)
		}
	}
}

func TestTheTextOfAViewFitsAndHasColoursOnlyIfAsked(t *testing.T) {
	v := watch(t, mongotest.RunReplicaSetT(t, 3).URI()).View()
	for _, columns := range []int{40, 100} {
		var b strings.Builder
		if err := v.WriteText(&b, columns, false); err != nil || strings.Contains(b.String(), "\x1b") {
			t.Errorf("%v:\n%s", err, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if len(strings.TrimSuffix(line, "\n")) > columns {
				t.Errorf("a line is wider than %d columns: %q", columns, line)
			}
		}
	}
	var b strings.Builder
	if err := v.WriteText(&b, 100, true); err != nil || !strings.Contains(b.String(), "\x1b[32m") {
		t.Errorf("%v: %q", err, b.String())
	}
}

// A check that waited for a change says nothing about the round trip, and after a failure the average begins anew.
func TestOnlySomeChecksAreSamplesOfTheRoundTrip(t *testing.T) {
	w := &Watcher{checked: make(map[string]*checked), changed: make(chan struct{}, 1)}
	m := w.serverMonitor()
	check := func(awaited bool) {
		m.ServerHeartbeatSucceeded(&event.ServerHeartbeatSucceededEvent{Awaited: awaited, Duration: time.Second, Reply: event.ServerDescription{Addr: "a:1"}})
	}
	has := func() bool { return w.checked["a:1"].sample.HasRTT }
	if check(true); has() {
		t.Error("a check that waited is a sample")
	}
	if check(false); !has() || w.checked["a:1"].sample.RTT != time.Second {
		t.Errorf("%+v", w.checked["a:1"].sample)
	}
	m.ServerHeartbeatFailed(&event.ServerHeartbeatFailedEvent{ConnectionID: "a:1[-3]", Failure: errRefused})
	if has() {
		t.Error("the sample of before the failure is still there")
	}
}
