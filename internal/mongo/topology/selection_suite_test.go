package topology

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// selectionSpec is one file of the server selection or the max staleness suite.
type selectionSpec struct {
	HeartbeatFrequencyMS *int64 `bson:"heartbeatFrequencyMS"`
	Topology             struct {
		Type    string       `bson:"type"`
		Servers []specServer `bson:"servers"`
	} `bson:"topology_description"`
	Operation      string       `bson:"operation"`
	ReadPreference specReadPref `bson:"read_preference"`
	Deprioritized  []specServer `bson:"deprioritized_servers"`
	Suitable       []specServer `bson:"suitable_servers"`
	InWindow       []specServer `bson:"in_latency_window"`
	Error          bool         `bson:"error"`
}

type specServer struct {
	Address        string            `bson:"address"`
	Type           string            `bson:"type"`
	RTT            *int64            `bson:"avg_rtt_ms"`
	Tags           map[string]string `bson:"tags"`
	LastUpdateTime int64             `bson:"lastUpdateTime"`
	MaxWireVersion *int32            `bson:"maxWireVersion"`
	LastWrite      *struct {
		Date int64 `bson:"lastWriteDate"`
	} `bson:"lastWrite"`
}

type specReadPref struct {
	Mode         string              `bson:"mode"`
	TagSets      []map[string]string `bson:"tag_sets"`
	MaxStaleness *int64              `bson:"maxStalenessSeconds"`
}

func TestPublishedSelection(t *testing.T) {
	runSuite(t, "server-selection/tests/server_selection", 88, runSelection)
}

func TestPublishedMaxStaleness(t *testing.T) {
	runSuite(t, "max-staleness/tests", 32, runSelection)
}

func runSelection(t *testing.T, spec selectionSpec) {
	d := spec.topology()
	s, err := spec.selection()
	if err != nil {
		if !spec.Error {
			t.Fatal(err)
		}
		return // the read preference itself is refused
	}
	got, err := Select(d, s, nil)
	if spec.Error {
		if err == nil {
			t.Fatalf("selected %v, want an error", addresses(got))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	sameAddresses(t, "suitable servers", addresses(appendSuitable(nil, d, s)), specAddresses(spec.Suitable))
	sameAddresses(t, "servers in the latency window", addresses(got), specAddresses(spec.InWindow))
	if len(got) == 0 && Explain(d, s) == "" {
		t.Error("Explain returns no text although there is no server")
	}
}

func (spec *selectionSpec) topology() *Description {
	d := &Description{Type: kindNamed(spec.Topology.Type)}
	for _, s := range spec.Topology.Servers {
		d.Servers = append(d.Servers, s.server())
	}
	d.derive()
	return d
}

func (spec *selectionSpec) selection() (*Selection, error) {
	s := &Selection{
		Write:             spec.Operation == "write",
		LocalThreshold:    15 * time.Millisecond,
		HeartbeatInterval: 10 * time.Second,
		Deprioritized:     specAddresses(spec.Deprioritized),
	}
	if spec.HeartbeatFrequencyMS != nil {
		s.HeartbeatInterval = time.Duration(*spec.HeartbeatFrequencyMS) * time.Millisecond
	}
	var err error
	s.ReadPref, err = spec.ReadPreference.readPref()
	return s, err
}

func (rp *specReadPref) readPref() (*readpref.ReadPref, error) {
	mode, err := readpref.ModeFromString(cmp.Or(rp.Mode, "primary"))
	if err != nil {
		return nil, err
	}
	var opts []readpref.Option
	if len(rp.TagSets) > 0 && (mode != readpref.PrimaryMode || len(rp.TagSets[0]) > 0) {
		opts = append(opts, readpref.WithTagSets(tag.NewTagSetsFromMaps(rp.TagSets)...))
	}
	if rp.MaxStaleness != nil {
		opts = append(opts, readpref.WithMaxStaleness(time.Duration(*rp.MaxStaleness)*time.Second))
	}
	return readpref.New(mode, opts...)
}

func (spec *specServer) server() *Server {
	s := &Server{
		Address:        spec.Address,
		Type:           serverKindNamed(spec.Type),
		Tags:           tag.NewTagSetFromMap(spec.Tags),
		LastUpdateTime: time.UnixMilli(spec.LastUpdateTime),
		MaxWireVersion: MinWireVersion, // the default if the file has none
	}
	if spec.MaxWireVersion != nil {
		s.MaxWireVersion = *spec.MaxWireVersion
	}
	if spec.RTT != nil {
		s.RTT, s.HasRTT = time.Duration(*spec.RTT)*time.Millisecond, true
	}
	if spec.LastWrite != nil {
		s.LastWriteDate = time.UnixMilli(spec.LastWrite.Date)
	}
	return s
}

func kindNamed(name string) Type {
	return Type(slices.Index(kindNames[:], name))
}

func serverKindNamed(name string) ServerType {
	return ServerType(slices.Index(serverKindNames[:], name))
}

func addresses(servers []*Server) []string {
	var list []string
	for _, s := range servers {
		list = append(list, s.Address)
	}
	return list
}

func specAddresses(servers []specServer) []string {
	var list []string
	for _, s := range servers {
		list = append(list, s.Address)
	}
	return list
}

// sameAddresses ignores the order, which has no meaning in the suite.
func sameAddresses(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) || !sameSet(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestPublishedRoundTripTimes(t *testing.T) {
	type rttSpec struct {
		Average bson.RawValue `bson:"avg_rtt_ms"` // "NULL" if there is none
		Sample  float64       `bson:"new_rtt_ms"`
		Next    float64       `bson:"new_avg_rtt"`
	}
	runSuite(t, "server-selection/tests/rtt", 7, func(t *testing.T, spec rttSpec) {
		prev := &Server{}
		if average, ok := spec.Average.AsFloat64OK(); ok {
			prev.RTT, prev.HasRTT = milliseconds(average), true
		}
		got := NextRTT(prev, milliseconds(spec.Sample))
		if math.Abs(float64(got-milliseconds(spec.Next))) > float64(time.Nanosecond) {
			t.Errorf("the average is %v, want %v", got, milliseconds(spec.Next))
		}
	})
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}
