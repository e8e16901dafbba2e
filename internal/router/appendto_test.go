package router

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// What goes on to a member: all but what the client's layers append, or the member must not have.
func TestTheElementsThatGoOn(t *testing.T) {
	body := bson.D{{Key: "find", Value: "c"}}
	for _, name := range []string{"$db", "$clusterTime", "$readPreference", "lsid", "txnNumber", "writeConcern", "maxTimeMS", "other"} {
		body = append(body, bson.E{Key: name, Value: int32(5000)})
	}
	for name, c := range map[string]struct {
		change func(f *forwarded)
		server topology.ServerType
		want   []string
	}{
		"as it came":        {nil, topology.RSPrimary, []string{"find", "lsid", "txnNumber", "writeConcern", "maxTimeMS", "other"}},
		"a preference":      {func(f *forwarded) { f.obeys = true }, topology.RSSecondary, []string{"find", "$readPreference", "lsid", "txnNumber", "writeConcern", "maxTimeMS", "other"}},
		"to a standalone":   {func(f *forwarded) { f.obeys = true }, topology.Standalone, []string{"find", "lsid", "txnNumber", "writeConcern", "maxTimeMS", "other"}},
		"our session":       {func(f *forwarded) { f.ownSession = true }, topology.RSPrimary, []string{"find", "writeConcern", "maxTimeMS", "other"}},
		"without an answer": {func(f *forwarded) { f.command.Flags = wire.MoreToCome }, topology.RSPrimary, []string{"find", "lsid", "txnNumber", "maxTimeMS", "other"}},
	} {
		f := &forwarded{command: &command{}}
		f.command.Body = marshal(t, body)
		if c.change != nil {
			c.change(f)
		}
		var got []string
		for _, e := range elementsFor(t, f, 0, c.server) {
			got = append(got, e.Key)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// An attempt that is not the first, or that waited, has what remains of maxTimeMS, at least 1. That of a getMore is no limit.
func TestTheTimeThatRemains(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		spent   time.Duration
		attempt int
		entered bool
		least   int64
		most    int64
	}{
		"the first attempt": {"find", time.Hour, 0, false, 5_000_000, 5_000_000},
		"the second":        {"find", time.Hour, 1, false, 1_300_000, 1_400_000},
		"after a wait":      {"find", time.Hour, 0, true, 1_300_000, 1_400_000},
		"when all is spent": {"find", 9 * time.Hour, 1, true, 1, 1},
		"a getMore":         {"getMore", time.Hour, 1, true, 5_000_000, 5_000_000},
	} {
		f := &forwarded{command: &command{}, began: time.Now().Add(-c.spent), entered: c.entered}
		f.command.Name, f.command.Body = c.command, marshal(t, bson.D{{Key: c.command, Value: int64(1)}, {Key: "maxTimeMS", Value: int64(5_000_000)}})
		if err := f.command.readFields(); err != nil {
			t.Fatal(err)
		}
		got := elementsFor(t, f, c.attempt, topology.RSPrimary)[1].Value.(int64)
		if got < c.least || got > c.most {
			t.Errorf("%s: maxTimeMS is %d, want %d to %d", name, got, c.least, c.most)
		}
	}
}

// A getMore in a crowd has one limit, which is not longer than its own.
func TestTheLimitOfAGetMoreReplacesItsOwn(t *testing.T) {
	f := &forwarded{command: &command{maxTime: time.Minute}, awaitLimit: time.Second}
	f.command.Body = marshal(t, bson.D{{Key: "getMore", Value: int64(1)}, {Key: "maxTimeMS", Value: 60_000}})
	want := bson.D{{Key: "getMore", Value: int64(1)}, {Key: "maxTimeMS", Value: int64(1000)}}
	if got := elementsFor(t, f, 0, topology.RSPrimary); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// elementsFor returns what an attempt sends.
func elementsFor(t *testing.T, f *forwarded, attempt int, server topology.ServerType) bson.D {
	t.Helper()
	at, b := wire.BeginDocument(nil)
	b, err := f.AppendTo(b, operation.Attempt{Number: attempt, Server: &topology.Server{Type: server}})
	if err != nil {
		t.Fatal(err)
	}
	var sent bson.D
	if err := bson.Unmarshal(wire.EndDocument(b, at), &sent); err != nil {
		t.Fatal(err)
	}
	return sent
}
