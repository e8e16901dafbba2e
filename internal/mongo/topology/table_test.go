package topology

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// SDAM, "not writable primary" and "node is recovering": the codes.
func TestWhatEachCodeSaysOfAMember(t *testing.T) {
	notPrimary := map[int32]bool{10107: true, 13435: true, 10058: true}
	shutdown := map[int32]bool{11600: true, 91: true}
	recovering := map[int32]bool{11602: true, 13436: true, 189: true, 11600: true, 91: true}
	for code := range int32(15_000) {
		if got := IsNotPrimary(code, "not master", true); got != notPrimary[code] {
			t.Errorf("code %d: not primary %v", code, got)
		}
		if got := IsRecovering(code, "node is recovering", true); got != recovering[code] {
			t.Errorf("code %d: recovering %v", code, got)
		}
		if got := IsShutdown(code); got != shutdown[code] {
			t.Errorf("code %d: shutdown %v", code, got)
		}
	}
	for _, c := range []struct {
		message                string
		notPrimary, recovering bool
	}{
		{"not master", true, false},
		{"not master or secondary", false, true},
		{"node is recovering", false, true},
		{"node is recovering, not master", false, true},
		{"bad value", false, false},
		{"", false, false},
	} {
		if IsNotPrimary(91, c.message, false) != c.notPrimary || IsRecovering(10107, c.message, false) != c.recovering {
			t.Errorf("%q: want %v, %v", c.message, c.notPrimary, c.recovering)
		}
	}
}

// SDAM, "Checking wire protocol compatibility".
func TestWhichWireVersionsAreCompatible(t *testing.T) {
	for _, c := range []struct {
		least, most int32
		text        string // "": it is compatible
	}{
		{0, 6, ""},
		{6, 6, ""},
		{0, 29, ""},
		{29, 40, ""},
		{0, 5, "Server at a:1 reports wire version 5, but this version of Holdfast requires at least 6 (MongoDB 3.6)."},
		{30, 40, "Server at a:1 requires wire version 30, but this version of Holdfast only supports up to 29."},
	} {
		for kind, counts := range map[ServerType]bool{RSPrimary: true, Unknown: false, PossiblePrimary: false} {
			err := incompatibility([]*Server{
				{Address: "b:1", Type: RSSecondary, MaxWireVersion: 21}, {Address: "a:1", Type: kind, MinWireVersion: c.least, MaxWireVersion: c.most},
			})
			if want := counts && c.text != ""; (err != nil) != want || want && err.Error() != c.text {
				t.Errorf("%v with %d to %d: %v", kind, c.least, c.most, err)
			}
		}
	}
}

// Servers before 4.2 close their connections when their state changes; 0 is no version.
func TestWhichServersCloseTheirConnections(t *testing.T) {
	for version, want := range map[int32]bool{0: false, 1: true, 6: true, 7: true, 8: false, 21: false} {
		if got := (&ErrorInfo{MaxWireVersion: version}).closesConnections(); got != want {
			t.Errorf("wire version %d: %v", version, got)
		}
	}
}

func TestWhatAKindIsCalled(t *testing.T) {
	for kind, want := range map[ServerType]string{
		Unknown: "Unknown", Standalone: "Standalone", Mongos: "Mongos", PossiblePrimary: "PossiblePrimary", RSPrimary: "RSPrimary",
		RSSecondary: "RSSecondary", RSArbiter: "RSArbiter", RSOther: "RSOther", RSGhost: "RSGhost", LoadBalancer: "LoadBalancer",
		LoadBalancer + 1: "invalid",
	} {
		if kind.String() != want {
			t.Errorf("%d is %s, want %s", kind, kind, want)
		}
	}
	for kind, want := range map[Type]string{
		UnknownTopology: "Unknown", Single: "Single", ReplicaSetNoPrimary: "ReplicaSetNoPrimary",
		ReplicaSetWithPrimary: "ReplicaSetWithPrimary", Sharded: "Sharded", LoadBalanced: "LoadBalanced", LoadBalanced + 1: "invalid",
	} {
		if kind.String() != want {
			t.Errorf("%d is %s, want %s", kind, kind, want)
		}
	}
}

// SDAM, "Data-Bearing Server Type", and who takes writes.
func TestWhatAKindOfServerIsFor(t *testing.T) {
	bears := map[ServerType]bool{Standalone: true, Mongos: true, RSPrimary: true, RSSecondary: true, LoadBalancer: true}
	writable := map[ServerType]bool{Standalone: true, Mongos: true, RSPrimary: true, LoadBalancer: true}
	for kind := range LoadBalancer + 2 {
		s := &Server{Type: kind}
		if s.DataBearing() != bears[kind] || s.Writable() != writable[kind] || s.Known() != (kind != Unknown && kind != PossiblePrimary) {
			t.Errorf("%v: data-bearing %v, writable %v, known %v", kind, s.DataBearing(), s.Writable(), s.Known())
		}
	}
}

func TestWhatIsMissingInEachKindOfTopology(t *testing.T) {
	const primary = "No replica set primary available for query with ReadPreference PRIMARY"
	for kind, want := range map[Type]string{
		UnknownTopology: primary, Single: "The server is not available", LoadBalanced: "The server is not available",
		Sharded: "No mongos available", ReplicaSetNoPrimary: primary, ReplicaSetWithPrimary: primary,
	} {
		for _, s := range []*Selection{{Write: true}, {}} {
			got := Explain(&Description{Type: kind}, s)
			if want := want + " (topology " + kind.String() + ", no servers left)"; got != want {
				t.Errorf("%v: %q, want %q", kind, got, want)
			}
		}
	}
}

// The manual's defaults.
func TestTheLimitsOfAServerThatNamesNone(t *testing.T) {
	s, err := ParseHello("a:1", raw(t, bson.D{{Key: "ok", Value: 1}}))
	if err != nil || s.MaxDocumentSize != 16_777_216 || s.MaxMessageSize != 48_000_000 || s.MaxBatchCount != 100_000 {
		t.Errorf("%+v, %v", s, err)
	}
	for value, want := range map[int32]bool{1: true, 0: false, -1: false} {
		_, err := ParseHello("a:1", raw(t, bson.D{{Key: "ok", Value: 1}, {Key: "maxWriteBatchSize", Value: value}}))
		if (err == nil) != want {
			t.Errorf("a limit of %d: %v", value, err)
		}
	}
}

// Of a field that stands twice in a hello the last counts, alone.
func TestAFieldThatStandsTwiceCountsOnce(t *testing.T) {
	s, err := ParseHello("a:1", raw(t, bson.D{
		{Key: "ok", Value: 1},
		{Key: "tags", Value: bson.D{{Key: "a", Value: "1"}}},
		{Key: "tags", Value: bson.D{{Key: "b", Value: "2"}}},
		{Key: "hosts", Value: bson.A{"a:1"}},
		{Key: "hosts", Value: bson.A{"B:1"}},
		{Key: "compression", Value: bson.A{"zlib"}},
		{Key: "compression", Value: bson.A{"snappy"}},
	}))
	if err != nil || len(s.Tags) != 1 || s.Tags[0].Name != "b" || strings.Join(s.Hosts, " ") != "b:1" || strings.Join(s.Compression, " ") != "snappy" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A number that is not of the field's size is no value of it.
func TestANumberMustFitItsField(t *testing.T) {
	for _, c := range []struct {
		value any
		ok    bool
	}{
		{int64(1<<31 - 1), true},
		{int64(1 << 31), false},
		{int64(-1 << 31), true},
		{int64(-1<<31 - 1), false},
		{7.0, true},
		{"7", false},
		{true, false},
	} {
		s, err := ParseHello("a:1", raw(t, bson.D{{Key: "ok", Value: 1}, {Key: "minWireVersion", Value: c.value}}))
		if (err == nil) != c.ok {
			t.Errorf("%v: %+v, %v", c.value, s, err)
		}
	}
}

// ParseTopologyVersion wants both parts, each of its type.
func TestWhatIsATopologyVersion(t *testing.T) {
	process := bson.ObjectID{7}
	for _, c := range []struct {
		name string
		doc  bson.D
		want *TopologyVersion
	}{
		{"both parts", bson.D{{Key: "processId", Value: process}, {Key: "counter", Value: int64(5)}}, &TopologyVersion{process, 5}},
		{"a counter of another size", bson.D{{Key: "processId", Value: process}, {Key: "counter", Value: int32(5)}}, &TopologyVersion{process, 5}},
		{"no process", bson.D{{Key: "counter", Value: int64(5)}}, nil},
		{"no counter", bson.D{{Key: "processId", Value: process}}, nil},
		{"a process of another type", bson.D{{Key: "processId", Value: "x"}, {Key: "counter", Value: int64(5)}}, nil},
		{"a counter of another type", bson.D{{Key: "processId", Value: process}, {Key: "counter", Value: true}}, nil},
	} {
		got := ParseTopologyVersion(raw(t, c.doc))
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	cut := raw(t, bson.D{{Key: "processId", Value: process}, {Key: "counter", Value: int64(5)}, {Key: "x", Value: "y"}})
	wire.SetDocumentLength(cut[:len(cut)-4], len(cut)-4)
	if got := ParseTopologyVersion(cut[:len(cut)-4]); got != nil {
		t.Errorf("a document that is cut: %+v", got)
	}
}

// Server Selection, "Filtering suitable servers based on the latency window": the ends belong to the window.
func TestTheEndsOfTheLatencyWindow(t *testing.T) {
	for _, c := range []struct {
		threshold, above time.Duration
		in               bool
	}{
		{15 * time.Millisecond, 15 * time.Millisecond, true},
		{15 * time.Millisecond, 15*time.Millisecond + 1, false},
		{0, 0, true},
		{0, 1, false},
		{-time.Second, 0, true},
		{-time.Second, 1, false},
	} {
		near := &Server{Address: "a:1", HasRTT: true, RTT: time.Millisecond}
		far := &Server{Address: "b:1", HasRTT: true, RTT: near.RTT + c.above}
		for _, order := range [][]*Server{{near, far}, {far, near}} {
			if got := inLatencyWindow(slices.Clone(order), c.threshold); (len(got) == 2) != c.in || !slices.Contains(got, near) {
				t.Errorf("%v above with a threshold of %v: %d servers", c.above, c.threshold, len(got))
			}
		}
	}
	unknown, known := &Server{Address: "a:1"}, &Server{Address: "b:1", HasRTT: true, RTT: time.Hour}
	if got := inLatencyWindow([]*Server{unknown, known}, 0); len(got) != 1 || got[0] != known {
		t.Errorf("a server that was not measured is among %d", len(got))
	}
	if got := inLatencyWindow([]*Server{unknown, unknown}, 0); len(got) != 2 {
		t.Errorf("of servers that were not measured %d are left", len(got))
	}
}

// A flag is a boolean or a number, a text is a text, and so on: another type is an error that names the field.
func TestEachFieldOfAHelloHasItsType(t *testing.T) {
	id := bson.ObjectID{1}
	for _, c := range []struct {
		field string
		ok    []any
		wrong []any
	}{
		{"helloOk", []any{true, int32(1), int64(1), 1.0}, []any{"true", id}},
		{"isWritablePrimary", []any{true, 1.0}, []any{"true"}},
		{"ismaster", []any{false, int32(0)}, []any{"false"}},
		{"setName", []any{"rs"}, []any{1, true}},
		{"me", []any{"A:1"}, []any{1}},
		{"hosts", []any{bson.A{"a:1"}, bson.A{}}, []any{"a:1", bson.A{1}, bson.A{"a:1", ""}, bson.D{}}},
		{"compression", []any{bson.A{"zlib"}}, []any{bson.A{1}, "zlib"}},
		{"setVersion", []any{int32(1), int64(1), 1.0}, []any{"1", true, id}},
		{"logicalSessionTimeoutMinutes", []any{int32(30)}, []any{"30", false}},
		{"electionId", []any{id}, []any{"x", 1}},
		{"tags", []any{bson.D{{Key: "a", Value: "1"}}, bson.D{}}, []any{"a", bson.D{{Key: "a", Value: 1}}}},
		{"lastWrite", []any{bson.D{{Key: "lastWriteDate", Value: bson.DateTime(5)}}, bson.D{{Key: "opTime", Value: 1}}}, []any{
			"x", bson.D{{Key: "lastWriteDate", Value: int64(5)}},
		}},
		{"topologyVersion", []any{bson.D{{Key: "processId", Value: id}, {Key: "counter", Value: int64(1)}}}, []any{bson.D{}, "x"}},
		{"maxBsonObjectSize", []any{int32(1), 1.0}, []any{int32(0), "1"}},
		{"code", []any{int32(1)}, []any{"1"}},
		{"ok", []any{1.0, true, int64(1)}, nil},
	} {
		check := func(value any, want bool) {
			t.Helper()
			doc := bson.D{{Key: c.field, Value: value}}
			if c.field != "ok" {
				doc = append(doc, bson.E{Key: "ok", Value: 1})
			}
			s, err := ParseHello("a:1", raw(t, doc))
			if (err == nil) != want || !want && (!errors.Is(err, wire.ErrMalformed) || !strings.Contains(err.Error(), c.field) || s.Type != Unknown) {
				t.Errorf("%s: %v (%T): %v", c.field, value, value, err)
			}
		}
		for _, value := range append(c.ok, nil, bson.Undefined{}) {
			if value == nil && c.field == "ok" || value == (bson.Undefined{}) && c.field == "ok" {
				continue
			}
			check(value, true)
		}
		for _, value := range c.wrong {
			check(value, false)
		}
	}
}

// SDAM, "Using electionId and setVersion to detect stale primaries": a pair is not stale compared with itself.
func TestWhichPrimaryIsStale(t *testing.T) {
	two, known := int64(2), bson.ObjectID{5}
	for _, c := range []struct {
		name     string
		version  int64 // 0: absent
		election byte  // 0: absent
		old, now bool  // before 6.0 and since
	}{
		{"the same pair", 2, 5, false, false},
		{"a newer election", 2, 6, false, false},
		{"an older election", 2, 4, true, true},
		{"a newer version", 3, 5, false, false},
		{"an older version", 1, 5, true, true},
		{"an older version of a newer election", 1, 6, true, false},
		{"a newer version of an older election", 3, 4, false, true},
		{"no version", 0, 5, false, true},
		{"no election", 2, 0, false, true},
	} {
		for wireVersion, want := range map[int32]bool{16: c.old, 17: c.now} {
			s := &Server{Type: RSPrimary, MaxWireVersion: wireVersion, ElectionID: bson.ObjectID{c.election}}
			if c.version > 0 {
				s.SetVersion = &c.version
			}
			d := &Description{MaxSetVersion: &two, MaxElectionID: known}
			if got := d.stalePrimary(s); got != want {
				t.Errorf("%s, wire version %d: stale %v", c.name, wireVersion, got)
			}
		}
	}
}
