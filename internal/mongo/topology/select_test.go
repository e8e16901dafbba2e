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

// timed is a member with a round trip time in milliseconds; a negative one was never measured.
func timed(addr string, kind ServerKind, ms int, tags ...tag.Tag) *Server {
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
		"zero leaves the nearest":         {0, []*Server{timed("a", Mongos, 10), timed("b", Mongos, 11), timed("c", Mongos, 10)}, []string{"a", "c"}},
		"a negative one does, too":        {-time.Second, []*Server{timed("a", Mongos, 10), timed("b", Mongos, 11)}, []string{"a"}},
		"who was not measured comes last": {time.Second, []*Server{timed("a", Mongos, -1), timed("b", Mongos, 11)}, []string{"b"}},
		"unless nobody was":               {0, []*Server{timed("a", Mongos, -1), timed("b", Mongos, -1)}, []string{"a", "b"}},
		"a time of zero was measured":     {0, []*Server{timed("a", Mongos, 0), timed("b", Mongos, 1)}, []string{"a"}},
	} {
		d := &Description{Kind: Sharded, Servers: c.servers}
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
	same(t, "what was there", got[0], first)
}

func TestNoPreferenceIsPrimary(t *testing.T) {
	sameAddresses(t, "servers", mustSelect(t, threeMembers(t), reading(nil)), []string{"a"})
	write := reading(readpref.Secondary())
	write.Write = true
	sameAddresses(t, "a write ignores the preference", mustSelect(t, threeMembers(t), write), []string{"a"})
}

func TestTheFirstTagSetThatMatchesCounts(t *testing.T) {
	d := threeMembers(t)
	for name, c := range map[string]struct {
		sets []tag.Set
		want []string
	}{
		"the second":      {[]tag.Set{{ny, {Name: "rack", Value: "1"}}, {sf}, {}}, []string{"c"}},
		"the first":       {[]tag.Set{{ny}, {sf}}, []string{"b"}},
		"an empty one":    {[]tag.Set{{{Name: "dc", Value: "la"}}, {}}, []string{"b"}}, // c is out of the window
		"none":            {[]tag.Set{{{Name: "dc", Value: "la"}}}, nil},
		"no set at all":   {nil, []string{"b"}},
		"names have case": {[]tag.Set{{{Name: "DC", Value: "ny"}}}, nil},
	} {
		sameAddresses(t, name, mustSelect(t, d, reading(readpref.Secondary(readpref.WithTagSets(c.sets...)))), c.want)
	}
}

func TestDeprioritizedServersAreTheLastChoice(t *testing.T) {
	d := threeMembers(t)
	for name, c := range map[string]struct {
		rp            *readpref.ReadPref
		deprioritized []string
		want          []string
	}{
		"a preferred primary gives way":           {readpref.PrimaryPreferred(), []string{"a"}, []string{"b"}},
		"preferred secondaries give way":          {readpref.SecondaryPreferred(), []string{"b", "c"}, []string{"a"}},
		"the only primary is taken nevertheless":  {readpref.Primary(), []string{"a"}, []string{"a"}},
		"the nearest gives way to a far one":      {readpref.Secondary(), []string{"b"}, []string{"c"}},
		"all of them are as good as none of them": {readpref.Nearest(), []string{"a", "b", "c"}, []string{"a", "b"}},
	} {
		s := reading(c.rp)
		s.Deprioritized = c.deprioritized
		sameAddresses(t, name, mustSelect(t, d, s), c.want)
	}
}

func TestKindsOfTopologyThatAreNoReplicaSet(t *testing.T) {
	stale := readpref.Secondary(readpref.WithTags("dc", "la"), readpref.WithMaxStaleness(time.Second))
	for name, c := range map[string]struct {
		d    *Description
		want []string
	}{
		"a direct connection takes what is there":     {start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}, timed("a", RSArbiter, 1)), []string{"a"}},
		"but not what is not there":                   {start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}), nil},
		"a mongos judges preferences itself":          {start(t, Config{Seeds: []string{"a", "b"}}, timed("a", Mongos, 1)), []string{"a"}},
		"a load balancer, too":                        {start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}, &Server{Address: "a", Kind: LoadBalancer}), []string{"a"}},
		"nothing is known":                            {start(t, Config{Seeds: []string{"a"}}), nil},
		"a ghost makes no topology":                   {start(t, Config{Seeds: []string{"a"}}, timed("a", RSGhost, 1)), nil},
		"the mongos of a load balancer is not needed": {start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}), nil},
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
		"is no mode":                            reading(&readpref.ReadPref{}),
	} {
		if _, err := Select(threeMembers(t), s, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	s := reading(readpref.Nearest(readpref.WithMaxStaleness(-1 * time.Second)))
	sameAddresses(t, "-1 is no limit", mustSelect(t, threeMembers(t), s), []string{"a", "b"})
}

// TestStaleness is what the published cases leave out: servers that lie, or say nothing.
func TestStaleness(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	wrote := func(addr string, kind ServerKind, at time.Time) *Server {
		return with(timed(addr, kind, 1), func(s *Server) { s.LastUpdateTime, s.LastWriteDate = now, at })
	}
	s := reading(readpref.Nearest(readpref.WithMaxStaleness(90 * time.Second)))
	for name, c := range map[string]struct {
		servers []*Server
		want    []string
	}{
		"exactly the limit":                {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, now.Add(-80*time.Second))}, []string{"a", "b"}},
		"a millisecond more":               {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, now.Add(-80*time.Second-time.Millisecond))}, []string{"a"}},
		"no date of a secondary":           {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, time.Time{})}, []string{"a"}},
		"no date of the primary":           {[]*Server{wrote("a", RSPrimary, time.Time{}), wrote("b", RSSecondary, now)}, []string{"a"}},
		"the end of time":                  {[]*Server{wrote("a", RSPrimary, time.UnixMilli(math.MaxInt64)), wrote("b", RSSecondary, now)}, []string{"a"}},
		"its beginning":                    {[]*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, time.UnixMilli(math.MinInt64))}, []string{"a"}},
		"no primary: against the freshest": {[]*Server{wrote("b", RSSecondary, now), wrote("c", RSSecondary, now.Add(-81*time.Second))}, []string{"b"}},
		"no primary and no dates":          {[]*Server{wrote("b", RSSecondary, time.Time{})}, nil},
	} {
		d := &Description{Kind: ReplicaSetNoPrimary, Servers: c.servers}
		d.checkIfHasPrimary()
		sameAddresses(t, name, mustSelect(t, d, s), c.want)
	}
	stale := &Description{Kind: ReplicaSetWithPrimary, Servers: []*Server{wrote("a", RSPrimary, now), wrote("b", RSSecondary, now.Add(-time.Hour))}}
	s.Deprioritized = []string{"a"}
	sameAddresses(t, "a deprioritized primary stays the yardstick", mustSelect(t, stale, s), []string{"a"})
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
