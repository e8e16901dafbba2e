package topology

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// timed is a member with a round trip time in milliseconds. A negative time means that it was not measured.
func timed(addr string, kind ServerType, ms int, tags ...tag.Tag) *Server {
	s := member(addr, kind, "a", "b", "c", "d")
	s.RTT, s.HasRTT, s.Tags = time.Duration(ms)*time.Millisecond, ms >= 0, tags
	return s
}

var (
	ny = tag.Tag{Name: "dc", Value: "ny"}
	sf = tag.Tag{Name: "dc", Value: "sf"}
)

func threeMembers(t testing.TB) *Description {
	return start(t, rs("a", "b", "c"), timed("a", RSPrimary, 5, ny), timed("b", RSSecondary, 10, ny), timed("c", RSSecondary, 30, sf))
}

func reading(rp *readpref.ReadPref) *Selection {
	return &Selection{ReadPref: rp, LocalThreshold: 15 * time.Millisecond, HeartbeatInterval: 10 * time.Second}
}

func mustSelect(t testing.TB, d *Description, s *Selection) []string {
	t.Helper()
	got, err := Select(d, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return addresses(got)
}

func TestLatencyWindow(t *testing.T) {
	for name, c := range map[string]struct {
		threshold time.Duration
		servers   []*Server
		want      []string
	}{
		"its edge belongs to it":          {15 * time.Millisecond, []*Server{timed("a", Mongos, 10), timed("b", Mongos, 25), timed("c", Mongos, 26)}, []string{"a", "b"}},
		"zero keeps the nearest":          {0, []*Server{timed("a", Mongos, 10), timed("b", Mongos, 11), timed("c", Mongos, 10)}, []string{"a", "c"}},
		"a negative width keeps it too":   {-time.Second, []*Server{timed("a", Mongos, 10), timed("b", Mongos, 11)}, []string{"a"}},
		"an unmeasured server is out":     {time.Second, []*Server{timed("a", Mongos, -1), timed("b", Mongos, 11)}, []string{"b"}},
		"all are in if none was measured": {0, []*Server{timed("a", Mongos, -1), timed("b", Mongos, -1)}, []string{"a", "b"}},
		"a time of zero is measured":      {0, []*Server{timed("a", Mongos, 0), timed("b", Mongos, 1)}, []string{"a"}},
	} {
		d := &Description{Type: Sharded, Servers: c.servers}
		got := mustSelect(t, d, &Selection{Write: true, LocalThreshold: c.threshold})
		sameAddresses(t, name, got, c.want)
	}
}

func TestSelectAppends(t *testing.T) {
	first := timed("first", Mongos, 1)
	got, err := Select(threeMembers(t), reading(readpref.Nearest()), []*Server{first})
	if err != nil {
		t.Fatal(err)
	}
	sameAddresses(t, "servers", addresses(got), []string{"first", "a", "b"})
	same(t, "the first element of dst", got[0], first)
}

func TestNoReadPreferenceMeansPrimary(t *testing.T) {
	sameAddresses(t, "servers", mustSelect(t, threeMembers(t), reading(nil)), []string{"a"})
	write := reading(readpref.Secondary())
	write.Write = true
	sameAddresses(t, "a write ignores the preference", mustSelect(t, threeMembers(t), write), []string{"a"})
}

func TestTheFirstMatchingTagSetIsUsed(t *testing.T) {
	d := threeMembers(t)
	for name, c := range map[string]struct {
		sets []tag.Set
		want []string
	}{
		"the second matches":       {[]tag.Set{{ny, {Name: "rack", Value: "1"}}, {sf}, {}}, []string{"c"}},
		"the first matches":        {[]tag.Set{{ny}, {sf}}, []string{"b"}},
		"an empty set matches all": {[]tag.Set{{{Name: "dc", Value: "la"}}, {}}, []string{"b"}}, // c is not in the latency window
		"none matches":             {[]tag.Set{{{Name: "dc", Value: "la"}}}, nil},
		"no set at all":            {nil, []string{"b"}},
		"names are case-sensitive": {[]tag.Set{{{Name: "DC", Value: "ny"}}}, nil},
	} {
		sameAddresses(t, name, mustSelect(t, d, reading(readpref.Secondary(readpref.WithTagSets(c.sets...)))), c.want)
	}
}

func TestDeprioritizedServersAreSelectedLast(t *testing.T) {
	d := threeMembers(t)
	for name, c := range map[string]struct {
		rp            *readpref.ReadPref
		deprioritized []string
		want          []string
	}{
		"a secondary before a deprioritized primary":        {readpref.PrimaryPreferred(), []string{"a"}, []string{"b"}},
		"the primary before deprioritized secondaries":      {readpref.SecondaryPreferred(), []string{"b", "c"}, []string{"a"}},
		"the deprioritized primary if no other is suitable": {readpref.Primary(), []string{"a"}, []string{"a"}},
		"a far secondary before a deprioritized one":        {readpref.Secondary(), []string{"b"}, []string{"c"}},
		"if all are deprioritized none is":                  {readpref.Nearest(), []string{"a", "b", "c"}, []string{"a", "b"}},
	} {
		s := reading(c.rp)
		s.Deprioritized = c.deprioritized
		sameAddresses(t, name, mustSelect(t, d, s), c.want)
	}
}

func TestSelectOutsideReplicaSets(t *testing.T) {
	stale := readpref.Secondary(readpref.WithTags("dc", "la"), readpref.WithMaxStaleness(time.Second))
	for name, c := range map[string]struct {
		d    *Description
		want []string
	}{
		"a direct connection, any kind of server":  {start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}, timed("a", RSArbiter, 1)), []string{"a"}},
		"a direct connection, Unknown server":      {start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}), nil},
		"a mongos applies the preference itself":   {start(t, Config{Seeds: []string{"a", "b"}}, timed("a", Mongos, 1)), []string{"a"}},
		"a load balancer ignores the preference":   {start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}, &Server{Address: "a", Type: LoadBalancer}), []string{"a"}},
		"an Unknown topology has none":             {start(t, Config{Seeds: []string{"a"}}), nil},
		"a ghost is not suitable":                  {start(t, Config{Seeds: []string{"a"}}, timed("a", RSGhost, 1)), nil},
		"a load balancer that was not applied yet": {start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}), nil},
	} {
		sameAddresses(t, name, mustSelect(t, c.d, reading(stale)), c.want)
	}
}

func TestSelectionErrors(t *testing.T) {
	incompatible := start(t, rs("a"), with(member("a", RSPrimary, "a"), func(s *Server) { s.MaxWireVersion = 1 }))
	var wrongVersion *IncompatibleError
	got, err := Select(incompatible, reading(nil), make([]*Server, 1))
	if !errors.As(err, &wrongVersion) || len(got) != 1 {
		t.Errorf("an incompatible server gives %v, %v", got, err)
	}
	for want, s := range map[string]*Selection{
		"at least 1m30s, it is 1m29s":           reading(readpref.Nearest(readpref.WithMaxStaleness(89 * time.Second))),
		"at least 1m30s, it is 0s":              reading(readpref.Nearest(readpref.WithMaxStaleness(0))),
		"heartbeatFrequencyMS plus 10s, here 2": {ReadPref: readpref.Nearest(readpref.WithMaxStaleness(2 * time.Minute)), HeartbeatInterval: 2 * time.Minute},
		"is not a mode":                         reading(&readpref.ReadPref{}),
		"maxStalenessSeconds is -2s":            reading(readpref.Nearest(readpref.WithMaxStaleness(-2 * time.Second))),
		"maxStalenessSeconds is -1ns":           reading(readpref.Nearest(readpref.WithMaxStaleness(-1))),
	} {
		if _, err := Select(threeMembers(t), s, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	s := reading(readpref.Nearest(readpref.WithMaxStaleness(-1 * time.Second)))
	sameAddresses(t, "-1 is no limit", mustSelect(t, threeMembers(t), s), []string{"a", "b"})
}

// TestStaleness checks servers whose dates are wrong or missing, which the published cases leave out.
func TestStaleness(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	wrote := func(addr string, kind ServerType, at time.Time) *Server {
		return with(timed(addr, kind, 1), func(s *Server) { s.LastUpdateTime, s.LastWriteDate = now, at })
	}
	s := reading(readpref.Nearest(readpref.WithMaxStaleness(90 * time.Second)))
	for name, c := range map[string]struct {
		servers []*Server
		want    []string
	}{
		"a staleness at the limit":             {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, now.Add(-80*time.Second))}, []string{"a", "b"}},
		"a millisecond over the limit":         {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, now.Add(-80*time.Second-time.Millisecond))}, []string{"a"}},
		"a secondary without a date":           {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, time.Time{})}, []string{"a"}},
		"a primary without a date":             {[]*Server{wrote("a", RSPrimary, time.Time{}), wrote("b", RSSecondary, now)}, []string{"a"}},
		"the latest possible date":             {[]*Server{wrote("a", RSPrimary, time.UnixMilli(math.MaxInt64)), wrote("b", RSSecondary, now)}, []string{"a"}},
		"the earliest possible date":           {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, time.UnixMilli(math.MinInt64))}, []string{"a"}},
		"no primary: the freshest is compared": {[]*Server{wrote("b", RSSecondary, now), wrote("c", RSSecondary, now.Add(-81*time.Second))}, []string{"b"}},
		"no primary and no dates":              {[]*Server{wrote("b", RSSecondary, time.Time{})}, nil},
	} {
		d := &Description{Type: ReplicaSetNoPrimary, Servers: c.servers}
		d.checkIfHasPrimary()
		sameAddresses(t, name, mustSelect(t, d, s), c.want)
	}
	stale := &Description{Type: ReplicaSetWithPrimary, Servers: []*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, now.Add(-time.Hour))}}
	s.Deprioritized = []string{"a"}
	sameAddresses(t, "a deprioritized primary is still the reference", mustSelect(t, stale, s), []string{"a"})
}

func TestSelectDoesNotAllocate(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	d := threeMembers(t)
	for _, s := range d.Servers {
		s.LastUpdateTime, s.LastWriteDate = now, now
	}
	everything := reading(readpref.SecondaryPreferred(readpref.WithTagSets(tag.Set{sf}, tag.Set{ny}), readpref.WithMaxStaleness(2*time.Minute)))
	everything.Deprioritized = []string{"a", "b", "c"}
	dst := make([]*Server, 0, len(d.Servers))
	for name, s := range map[string]*Selection{
		"a write":    {Write: true},
		"nearest":    reading(readpref.Nearest()),
		"everything": everything,
	} {
		allocations := testing.AllocsPerRun(100, func() {
			if got, err := Select(d, s, dst); err != nil || len(got) == 0 {
				t.Fatal(got, err)
			}
		})
		same(t, name+": allocations", allocations, 0.0)
	}
}

func BenchmarkSelect(b *testing.B) {
	d, s := threeMembers(b), reading(readpref.Nearest())
	dst := make([]*Server, 0, len(d.Servers))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Select(d, s, dst); err != nil {
			b.Fatal(err)
		}
	}
}
