package operation

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// document returns what write appends, as a document.
func document(t *testing.T, write func([]byte) []byte) string {
	t.Helper()
	at, b := wire.BeginDocument(nil)
	b = wire.EndDocument(write(b), at)
	if err := bson.Raw(b).Validate(); err != nil {
		t.Fatal(err)
	}
	return bson.Raw(b).String()
}

// text returns a document as document does.
func text(t *testing.T, d bson.D) string {
	t.Helper()
	return bson.Raw(marshal(t, d)).String()
}

// Client Side Operations Timeout, "maxTimeMS": the remaining time less the shortest round trip, in whole milliseconds, never 0.
func TestMaxTimeIsWhatIsLeftLessARoundTripRoundedUp(t *testing.T) {
	for _, c := range []struct {
		name      string
		kind      Kind
		command   string
		left, rtt time.Duration
		want      int64 // 0: none
		refused   bool
	}{
		{"no deadline", Read, "find", 0, time.Millisecond, 0, false},
		{"whole milliseconds", Read, "find", 100 * time.Millisecond, 20 * time.Millisecond, 80, false},
		{"a nanosecond more is rounded up", Read, "find", 80*time.Millisecond + 1, 0, 81, false},
		{"a nanosecond less is rounded up", Read, "find", 80*time.Millisecond - 1, 0, 80, false},
		{"never 0, which would be no limit", Read, "find", 1, 0, 1, false},
		{"a write has it too", Write, "insert", 2 * time.Second, 0, 2000, false},
		{"a round trip is all that is left", Read, "find", 20 * time.Millisecond, 20 * time.Millisecond, 0, true},
		{"less than a round trip is left", Read, "find", 5 * time.Millisecond, 20 * time.Millisecond, 0, true},
		{"runCommand has it too", Generic, "find", time.Second, 0, 1000, false},
		{"the largest one that servers accept", Read, "find", math.MaxInt32 * time.Millisecond, 0, math.MaxInt32, false},
		{"a larger one is left out", Read, "find", (math.MaxInt32 + 1) * time.Millisecond, 0, 0, false},
		{"one that would be rounded up to a larger one is left out", Read, "find", math.MaxInt32*time.Millisecond + 1, 0, 0, false},
		{"a year", Write, "insert", 365 * 24 * time.Hour, 0, 0, false},
		{"a command with its own time limit has none", Read, "getMore", time.Second, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.left > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.left)
					defer cancel()
				}
				r := on(c.kind, Config{})
				r.op.Name, r.op.OwnTimeLimit = c.command, c.command == "getMore"
				var err error
				got := document(t, func(b []byte) []byte {
					var after []byte
					if after, err = r.appendMaxTime(ctx, b, &topology.Server{Address: "a:1", MinRTT: c.rtt, RTT: time.Hour}); err != nil {
						return b
					}
					return after
				})
				want := text(t, bson.D{})
				if c.want > 0 {
					want = text(t, bson.D{{Key: "maxTimeMS", Value: c.want}})
				}
				if got != want || errors.Is(err, context.DeadlineExceeded) != c.refused {
					t.Errorf("%s and %v, want %s", got, err, want)
				}
				if c.refused && err.Error() != c.command+": "+c.left.String()+
					" remain until the deadline, not more than a round trip to a:1 (20ms): context deadline exceeded" {
					t.Error(err)
				}
			})
		})
	}
}

func TestTheWriteConcernIsSentAsItIs(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name string
		wc   *writeconcern.WriteConcern
		want bson.D // nil: refused
	}{
		{"none", nil, bson.D{}},
		{"an empty one", &writeconcern.WriteConcern{}, bson.D{}},
		{"a number", &writeconcern.WriteConcern{W: 2}, bson.D{{Key: "writeConcern", Value: bson.D{{Key: "w", Value: int32(2)}}}}},
		{"a name", writeconcern.Majority(), bson.D{{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}}}},
		{"the journal alone", &writeconcern.WriteConcern{Journal: &yes}, bson.D{{Key: "writeConcern", Value: bson.D{{Key: "j", Value: true}}}}},
		{"both", &writeconcern.WriteConcern{W: 1, Journal: &no}, bson.D{{Key: "writeConcern", Value: bson.D{
			{Key: "w", Value: int32(1)}, {Key: "j", Value: false},
		}}}},
		{"what is neither", &writeconcern.WriteConcern{W: 1.5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := WriteConcern{WriteConcern: c.wc}.appendTo(nil)
			switch {
			case c.want == nil:
				if err == nil {
					t.Errorf("it was written as %x", b)
				}
			case err != nil:
				t.Error(err)
			default:
				if got := document(t, func(before []byte) []byte { return append(before, b...) }); got != text(t, c.want) {
					t.Errorf("%s, want %s", got, text(t, c.want))
				}
			}
		})
	}
}

// Server Selection, "Passing read preference to mongos and load balancers".
func TestWhichReadPreferenceTravels(t *testing.T) {
	mode := func(m string, more ...bson.E) bson.D {
		return bson.D{{Key: "$readPreference", Value: append(bson.D{{Key: "mode", Value: m}}, more...)}}
	}
	set := topology.ReplicaSetWithPrimary
	tags, err := readpref.New(readpref.SecondaryMode, readpref.WithTagSets(
		tag.Set{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}, tag.Set{},
	))
	if err != nil {
		t.Fatal(err)
	}
	hedged := readpref.Nearest(readpref.WithHedgeEnabled(true)) //nolint:staticcheck // deprecated, but supported while it exists
	for _, c := range []struct {
		name     string
		kind     Kind
		rp       *readpref.ReadPref
		topology topology.Type
		server   topology.ServerType
		want     bson.D
	}{
		{"none to a standalone", Read, readpref.Secondary(), topology.Single, topology.Standalone, bson.D{}},
		{"none with a write", Write, readpref.Secondary(), set, topology.RSPrimary, bson.D{}},
		{"none for primary", Read, readpref.Primary(), set, topology.RSPrimary, bson.D{}},
		{"none without one", Read, nil, set, topology.RSPrimary, bson.D{}},
		{"primary over a direct connection", Read, readpref.Primary(), topology.Single, topology.RSSecondary, mode("primaryPreferred")},
		{"none over a direct connection", Read, nil, topology.Single, topology.RSSecondary, mode("primaryPreferred")},
		{"primary over a direct connection to a mongos", Read, readpref.Primary(), topology.Single, topology.Mongos, bson.D{}},
		{"secondary over a direct connection", Read, readpref.Secondary(), topology.Single, topology.RSSecondary, mode("secondary")},
		{"secondary to a set", Read, readpref.Secondary(), set, topology.RSSecondary, mode("secondary")},
		{"nearest to a mongos", Read, readpref.Nearest(), topology.Sharded, topology.Mongos, mode("nearest")},
		{"runCommand's", Generic, readpref.Secondary(), set, topology.RSSecondary, mode("secondary")},
		{"with tags", Read, tags, set, topology.RSSecondary, mode("secondary", bson.E{Key: "tags", Value: bson.A{
			bson.D{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}, bson.D{},
		}})},
		{
			"with a staleness", Read, readpref.Nearest(readpref.WithMaxStaleness(90 * time.Second)), set, topology.RSSecondary,
			mode("nearest", bson.E{Key: "maxStalenessSeconds", Value: int32(90)}),
		},
		{"-1, which is no staleness", Read, readpref.Nearest(readpref.WithMaxStaleness(-1 * time.Second)), topology.Sharded, topology.Mongos, mode("nearest")},
		{"hedged to a mongos", Read, hedged, topology.Sharded, topology.Mongos, mode("nearest", bson.E{Key: "hedge", Value: bson.D{{Key: "enabled", Value: true}}})},
		{"hedged to a load balancer", Read, hedged, topology.LoadBalanced, topology.LoadBalancer, mode("nearest", bson.E{Key: "hedge", Value: bson.D{{Key: "enabled", Value: true}}})},
		{"hedged to a member", Read, hedged, set, topology.RSSecondary, mode("nearest")},
	} {
		t.Run(c.name, func(t *testing.T) {
			op := &Operation{Kind: c.kind, ReadPreference: c.rp}
			target := cluster.Target{
				Description: &topology.Server{Type: c.server}, Topology: &topology.Description{Type: c.topology},
			}
			got := document(t, func(b []byte) []byte { return appendReadPreference(b, op, target) })
			if want := text(t, c.want); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// CRUD specification, "Read preferences and server selection": the preference that selected the server is sent.
func TestWhichReadPreferenceTravelsWithAnAggregationThatWrites(t *testing.T) {
	for version, want := range map[int32]string{12: "{}", 13: `{"$readPreference": {"mode": "secondary"}}`} {
		op := &Operation{
			Kind: Write, ReadPreference: readpref.Secondary(),
			Selection: &topology.Selection{WritesOutput: true, ReadPref: readpref.Secondary()},
		}
		server := &topology.Server{Type: topology.RSPrimary, MaxWireVersion: version}
		target := cluster.Target{
			Description: server,
			Topology:    &topology.Description{Type: topology.ReplicaSetWithPrimary, Servers: []*topology.Server{server}},
		}
		if got := document(t, func(b []byte) []byte { return appendReadPreference(b, op, target) }); got != want {
			t.Errorf("wire version %d: %s, want %s", version, got, want)
		}
	}
}

// fields is a command of given elements.
type fields []byte

func (f fields) AppendTo(b []byte, _ Attempt) ([]byte, error) { return append(b, f...), nil }
func (fields) Accept(*Reply) error                            { return nil }

// A message may be as long as the server says, and not a byte longer; a server that says nothing has no limit.
func TestHowLongAMessageMayBe(t *testing.T) {
	build := func(limit int32) ([]byte, error) {
		r := on(Generic, Config{})
		r.op.Command, r.op.Database = fields(wire.AppendInt32(nil, "ping", 1)), "d"
		d := &topology.Server{Type: topology.RSPrimary, MaxWireVersion: 21, MaxMessageSize: limit}
		return r.build(t.Context(), cluster.Target{Description: d, Topology: &topology.Description{}}, &cluster.Conn{Description: d}, 3)
	}
	message, err := build(0)
	if err != nil {
		t.Fatal(err)
	}
	size := int32(len(message))
	if _, err := build(size); err != nil {
		t.Errorf("with a limit of its own length: %v", err)
	}
	if _, err := build(size - 1); err == nil {
		t.Error("it is longer than the limit")
	}
	h, err := wire.ParseHeader(message)
	m, wrong := wire.ParseMsg(message)
	want := text(t, bson.D{{Key: "ping", Value: int32(1)}, {Key: "$db", Value: "d"}})
	if err != nil || wrong != nil || h.RequestID != 3 || h.ResponseTo != 0 || m.Flags != 0 || bson.Raw(m.Body).String() != want {
		t.Errorf("%+v, %+v, %v, %v", h, m, err, wrong)
	}
}

// The memory of an operation that has ended is used again by the next.
func TestRunsAreUsedAgain(t *testing.T) {
	made := 0
	before := runs.New
	runs.New = func() any { made++; return new(run) }
	t.Cleanup(func() { runs.New = before })
	runner, err := NewRunner(Config{Cluster: deployment(t)})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if runner.Run(ended, &Operation{Selection: &topology.Selection{}}) == nil {
			t.Fatal("it succeeded")
		}
	}
	if made > 60 { // the race detector drops some
		t.Errorf("%d were made for 100 operations", made)
	}
}

func TestAMessageIsNotBuiltAfterAnErrorOfItsFields(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := on(Read, Config{})
	r.op.Command = fields(wire.AppendInt32(nil, "ping", 1))
	d := &topology.Server{Type: topology.RSPrimary, MaxWireVersion: 21, MinRTT: time.Hour}
	message, err := r.build(ctx, cluster.Target{Description: d, Topology: &topology.Description{}}, &cluster.Conn{Description: d}, 3)
	if message != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d bytes and %v", len(message), err)
	}
}
