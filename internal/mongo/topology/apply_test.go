package topology

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// start makes a topology and applies the servers to it.
func start(t testing.TB, cfg Config, servers ...*Server) *Description {
	t.Helper()
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		d = Apply(d, s)
	}
	return d
}

// member is a member of the replica set rs with a supported wire version.
func member(addr string, kind ServerType, hosts ...string) *Server {
	return &Server{Address: addr, Type: kind, SetName: "rs", Hosts: hosts, MaxWireVersion: 21}
}

func rs(seeds ...string) Config { return Config{Seeds: seeds, SetName: "rs"} }

func with(s *Server, change func(*Server)) *Server {
	change(s)
	return s
}

func elected(id byte, version int64) func(*Server) {
	return func(s *Server) { s.ElectionID, s.SetVersion = bson.ObjectID{11: id}, &version }
}

func TestApplyDoesNotChangeTheOldDescription(t *testing.T) {
	old := start(t, rs("a", "b"), member("a", RSPrimary, "a", "b"))
	before, servers := *old, slices.Clone(old.Servers)
	next := Apply(old, member("b", RSPrimary, "b", "c"))
	if !reflect.DeepEqual(*old, before) || !slices.Equal(old.Servers, servers) {
		t.Errorf("the former description changed: %+v", old)
	}
	sameAddresses(t, "servers of the next", addresses(next.Servers), []string{"b", "c"})
}

func TestApplyReturnsTheSameDescriptionIfTheServerIsIgnored(t *testing.T) {
	current := &TopologyVersion{ProcessID: process, Counter: 5}
	versioned := with(member("a", RSPrimary, "a"), func(s *Server) { s.TopologyVersion = current })
	d := start(t, rs("a"), versioned)
	balanced := start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}, &Server{Address: "a", Type: LoadBalancer})
	for name, c := range map[string]struct {
		d *Description
		s *Server
	}{
		"a server that is not in the topology": {d, member("z", RSPrimary, "z")},
		"an older topologyVersion":             {d, with(member("a", RSSecondary, "a"), version(process, 4))},
		"a mongos behind the load balancer":    {balanced, &Server{Address: "a", Type: Mongos}},
		"a failure behind the load balancer":   {balanced, NewUnknown("a", errConnection, nil)},
	} {
		if Apply(c.d, c.s) != c.d {
			t.Errorf("%s must be ignored", name)
		}
	}
	for name, s := range map[string]*Server{
		"an equal topologyVersion, because the round trip time is new": with(member("a", RSPrimary, "a"), version(process, 5)),
		"a newer topologyVersion":                                      with(member("a", RSPrimary, "a"), version(process, 6)),
		"another process with a lower counter":                         with(member("a", RSPrimary, "a"), version(election, 1)),
		"no topologyVersion":                                           NewUnknown("a", errConnection, nil),
	} {
		if next := Apply(d, s); next == d || next.Server("a") != s {
			t.Errorf("%s must be applied", name)
		}
	}
}

func version(id bson.ObjectID, counter int64) func(*Server) {
	return func(s *Server) { s.TopologyVersion = &TopologyVersion{ProcessID: id, Counter: counter} }
}

// TestTopologyTypeTable checks SDAM's "TopologyType table": the next topology type for each type of server, and
// whether the server is kept.
func TestTopologyTypeTable(t *testing.T) {
	type outcome struct {
		kind  Type
		stays bool
	}
	tables := map[string]struct {
		d    *Description
		want map[ServerType]outcome
	}{
		"Unknown": {start(t, Config{Seeds: []string{"a", "b"}}), map[ServerType]outcome{
			Unknown: {UnknownTopology, true}, Standalone: {UnknownTopology, false}, Mongos: {Sharded, true},
			RSPrimary: {ReplicaSetWithPrimary, true}, RSSecondary: {ReplicaSetNoPrimary, true},
			RSArbiter: {ReplicaSetNoPrimary, true}, RSOther: {ReplicaSetNoPrimary, true}, RSGhost: {UnknownTopology, true},
		}},
		"Unknown, one seed": {start(t, Config{Seeds: []string{"a"}}), map[ServerType]outcome{
			Standalone: {Single, true}, Mongos: {Sharded, true}, RSPrimary: {ReplicaSetWithPrimary, true},
		}},
		"Sharded": {start(t, Config{Seeds: []string{"a", "b"}}, &Server{Address: "b", Type: Mongos}), map[ServerType]outcome{
			Unknown: {Sharded, true}, Standalone: {Sharded, false}, Mongos: {Sharded, true}, RSPrimary: {Sharded, false},
			RSSecondary: {Sharded, false}, RSArbiter: {Sharded, false}, RSOther: {Sharded, false}, RSGhost: {Sharded, false},
		}},
		"ReplicaSetNoPrimary": {start(t, rs("a", "b")), map[ServerType]outcome{
			Unknown: {ReplicaSetNoPrimary, true}, Standalone: {ReplicaSetNoPrimary, false}, Mongos: {ReplicaSetNoPrimary, false},
			RSPrimary: {ReplicaSetWithPrimary, true}, RSSecondary: {ReplicaSetNoPrimary, true},
			RSArbiter: {ReplicaSetNoPrimary, true}, RSOther: {ReplicaSetNoPrimary, true}, RSGhost: {ReplicaSetNoPrimary, true},
		}},
		"ReplicaSetWithPrimary, its primary": {start(t, rs("a", "b"), member("a", RSPrimary, "a", "b")), map[ServerType]outcome{
			Unknown: {ReplicaSetNoPrimary, true}, Standalone: {ReplicaSetNoPrimary, false}, Mongos: {ReplicaSetNoPrimary, false},
			RSPrimary: {ReplicaSetWithPrimary, true}, RSSecondary: {ReplicaSetNoPrimary, true},
			RSArbiter: {ReplicaSetNoPrimary, true}, RSOther: {ReplicaSetNoPrimary, true}, RSGhost: {ReplicaSetNoPrimary, true},
		}},
		"ReplicaSetWithPrimary, another member": {start(t, rs("a", "b"), member("b", RSPrimary, "a", "b")), map[ServerType]outcome{
			Unknown: {ReplicaSetWithPrimary, true}, Standalone: {ReplicaSetWithPrimary, false}, Mongos: {ReplicaSetWithPrimary, false},
			RSPrimary: {ReplicaSetWithPrimary, true}, RSSecondary: {ReplicaSetWithPrimary, true},
			RSArbiter: {ReplicaSetWithPrimary, true}, RSOther: {ReplicaSetWithPrimary, true}, RSGhost: {ReplicaSetWithPrimary, true},
		}},
		"Single": {start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}), map[ServerType]outcome{
			Unknown: {Single, true}, Standalone: {Single, true}, Mongos: {Single, true}, RSPrimary: {Single, true},
			RSSecondary: {Single, true}, RSArbiter: {Single, true}, RSOther: {Single, true}, RSGhost: {Single, true},
		}},
	}
	for name, table := range tables {
		for kind, want := range table.want {
			s := member("a", kind, "a", "b")
			if kind == Unknown || kind == Standalone || kind == Mongos || kind == RSGhost {
				s = &Server{Address: "a", Type: kind, MaxWireVersion: 21}
			}
			next := Apply(table.d, s)
			same(t, name+", "+kind.String()+": topology", next.Type, want.kind)
			same(t, name+", "+kind.String()+": the server stays", next.Server("a") == s, want.stays)
		}
	}
}

func TestTheSetNameIsLearnedOnce(t *testing.T) {
	d := start(t, Config{Seeds: []string{"a", "b"}}, member("a", RSSecondary, "a", "b"))
	same(t, "learned name", d.SetName, "rs")
	d = Apply(d, with(member("b", RSPrimary, "b"), func(s *Server) { s.SetName = "other" }))
	same(t, "name", d.SetName, "rs")
	sameAddresses(t, "servers", addresses(d.Servers), []string{"a"})
}

func TestADirectConnectionVerifiesTheSetName(t *testing.T) {
	direct := Config{Seeds: []string{"a"}, SetName: "rs", Direct: ptr(true)}
	for name, s := range map[string]*Server{
		"another set": with(member("a", RSPrimary), func(s *Server) { s.SetName = "other" }),
		"no set":      {Address: "a", Type: Standalone, MaxWireVersion: 21},
		"a ghost":     {Address: "a", Type: RSGhost, MaxWireVersion: 21},
	} {
		got := start(t, direct, s).Server("a")
		if got.Type != Unknown || got.Error == nil || !strings.Contains(got.Error.Error(), `"rs"`) {
			t.Errorf("%s gives %+v", name, got)
		}
	}
	down := NewUnknown("a", errConnection, nil)
	same(t, "the reason why it is unknown stays", start(t, direct, down).Server("a"), down)
	same(t, "no name is learned", start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}, member("a", RSPrimary)).SetName, "")
}

// TestStalePrimary checks the order of (electionId, setVersion) pairs before and since MongoDB 6.0. 0 means absent.
func TestStalePrimary(t *testing.T) {
	for name, c := range map[string]struct {
		wire                        int32
		seenElection, seenVersion   byte
		claimElection, claimVersion byte
		stale                       bool
	}{
		"6.0: an older election":                                 {17, 2, 1, 1, 1, true},
		"6.0: an older election with a newer set version":        {17, 2, 1, 1, 9, true},
		"6.0: the same election with an older set version":       {17, 2, 2, 2, 1, true},
		"6.0: the same pair":                                     {17, 2, 2, 2, 2, false},
		"6.0: a newer election with an older set version":        {17, 2, 2, 3, 1, false},
		"6.0: a newer election without a set version":            {17, 2, 2, 3, 0, false},
		"6.0: no election after one":                             {17, 2, 2, 0, 9, true},
		"6.0: the same election without a set version":           {17, 2, 2, 2, 0, true},
		"6.0: no pair was seen before":                           {17, 0, 0, 0, 0, false},
		"before 6.0: an older set version with a newer election": {16, 1, 2, 2, 1, true},
		"before 6.0: the same set version, an older election":    {16, 2, 1, 1, 1, true},
		"before 6.0: a newer set version, an older election":     {16, 2, 1, 1, 2, false},
		"before 6.0: no election is not compared":                {16, 2, 2, 0, 1, false},
		"before 6.0: no set version is not compared":             {16, 2, 2, 1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t, rs("a", "b"), claim("a", c.wire, c.seenElection, c.seenVersion))
			d = Apply(d, claim("b", c.wire, c.claimElection, c.claimVersion))
			a, b := d.Server("a"), d.Server("b")
			if !c.stale {
				same(t, "the former primary's error", a.Error, ErrNewerPrimary)
				same(t, "the newer primary", b.Type, RSPrimary)
				return
			}
			same(t, "the former primary", a.Type, RSPrimary)
			same(t, "the stale primary", b.Type, Unknown)
			if !strings.Contains(b.Error.Error(), "primary marked stale due to electionId/setVersion mismatch, (electionId ") {
				t.Errorf("its error is %v", b.Error)
			}
		})
	}
}

// claim is a primary's description. 0 means an absent value.
func claim(addr string, wireVersion int32, election, version byte) *Server {
	s := member(addr, RSPrimary, "a", "b")
	s.MaxWireVersion, s.ElectionID = wireVersion, bson.ObjectID{11: election}
	if version != 0 {
		s.SetVersion = ptr(int64(version))
	}
	return s
}

func TestTheErrorOfAStalePrimaryHasBothPairs(t *testing.T) {
	d := start(t, rs("a", "b"), claim("a", 17, 2, 0))
	d = Apply(d, claim("b", 17, 1, 3))
	same(t, "text", d.Server("b").Error.Error(), "primary marked stale due to electionId/setVersion mismatch, "+
		"(electionId 000000000000000000000001, setVersion 3) is stale compared to (electionId 000000000000000000000002, setVersion null)")
}

func TestTheGreatestElectionPairIsStored(t *testing.T) {
	d := start(t, rs("a", "b"), with(member("a", RSPrimary, "a", "b"), elected(2, 5)))
	d = Apply(d, with(member("b", RSPrimary, "a", "b"), elected(3, 1)))
	same(t, "since 6.0 a newer election lowers the set version", *d.MaxSetVersion, int64(1))
	same(t, "election", d.MaxElectionID, bson.ObjectID{11: 3})
	d = start(t, rs("a", "b"), claim("a", 16, 2, 5))
	d = Apply(d, claim("a", 16, 0, 4))
	same(t, "before 6.0 the set version is not lowered", *d.MaxSetVersion, int64(5))
	same(t, "before 6.0 a missing election is not stored", d.MaxElectionID, bson.ObjectID{11: 2})
}

func TestAFormerPrimaryIsCheckedImmediately(t *testing.T) {
	old := start(t, rs("a", "b", "c"), member("a", RSPrimary, "a", "b", "c"))
	next := Apply(old, member("b", RSPrimary, "a", "b", "d"))
	changes := Changes(old, next, nil)
	got := map[string]string{}
	for _, c := range changes {
		switch {
		case c.Old == nil:
			got[c.New.Address] = "new"
		case c.New == nil:
			got[c.Old.Address] = "removed"
		case c.CheckNow():
			got[c.Old.Address] = "check now"
		default:
			got[c.Old.Address] = "changed"
		}
	}
	want := map[string]string{"a": "check now", "b": "changed", "c": "removed", "d": "new"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(Changes(next, next, nil)) != 0 {
		t.Error("a description differs from itself")
	}
	again := Apply(next, member("b", RSPrimary, "a", "b", "d"))
	for _, c := range Changes(next, again, nil) {
		if c.CheckNow() {
			t.Errorf("%s is checked again without a newer primary", c.New.Address)
		}
	}
}

func TestAMemberWithoutMeIsKept(t *testing.T) {
	d := start(t, rs("a"), member("a", RSSecondary, "b"))
	sameAddresses(t, "servers", addresses(d.Servers), []string{"a", "b"})
	d = Apply(d, with(member("a", RSSecondary, "b"), func(s *Server) { s.Me = "other" }))
	sameAddresses(t, "servers, if me is another address", addresses(d.Servers), []string{"b"})
}

func TestCompatibility(t *testing.T) {
	direct := Config{Seeds: []string{"a:27017"}, Direct: ptr(true)}
	for name, c := range map[string]struct {
		kind     ServerType
		min, max int32
		want     string
	}{
		"the oldest":        {Standalone, 0, MinWireVersion, ""},
		"the newest":        {Standalone, MaxWireVersion, 99, ""},
		"an Unknown server": {Unknown, 0, 0, ""},
		"too old": {
			RSArbiter, 0, MinWireVersion - 1,
			"Server at a:27017 reports wire version 5, but this version of Holdfast requires at least 6 (MongoDB 3.6).",
		},
		"too new": {
			RSGhost, MaxWireVersion + 1, 99,
			"Server at a:27017 requires wire version 30, but this version of Holdfast only supports up to 29.",
		},
	} {
		d := start(t, direct, &Server{Address: "a:27017", Type: c.kind, MinWireVersion: c.min, MaxWireVersion: c.max})
		if c.want == "" {
			same(t, name, d.CompatibilityError, nil)
			continue
		}
		incompatible := new(IncompatibleError)
		if !errors.As(d.CompatibilityError, &incompatible) || d.CompatibilityError.Error() != c.want {
			t.Errorf("%s: the error is %v, want %s", name, d.CompatibilityError, c.want)
		}
		recovered := Apply(d, &Server{Address: "a:27017", Type: Standalone, MaxWireVersion: 21})
		same(t, name+", after an upgrade", recovered.CompatibilityError, nil)
	}
	balanced := start(t, Config{Seeds: []string{"a"}, LoadBalanced: true}, &Server{Address: "a", Type: LoadBalancer})
	same(t, "a load balancer has no wire version of its own", balanced.CompatibilityError, nil)
}

func TestSessionTimeoutIsTheLeastOfDataBearingServers(t *testing.T) {
	timeout := func(addr string, kind ServerType, minutes *int64) *Server {
		return with(member(addr, kind, "a", "b", "c"), func(s *Server) { s.SessionTimeoutMinutes = minutes })
	}
	d := start(t, rs("a", "b", "c"))
	same(t, "no known server", optional(d.SessionTimeoutMinutes), nil)
	d = Apply(d, timeout("a", RSPrimary, ptr[int64](30)))
	d = Apply(d, timeout("b", RSArbiter, nil))
	same(t, "an arbiter without a timeout is ignored", optional(d.SessionTimeoutMinutes), int64(30))
	same(t, "a lower one", optional(Apply(d, timeout("c", RSSecondary, ptr[int64](20))).SessionTimeoutMinutes), int64(20))
	same(t, "a higher one", optional(Apply(d, timeout("c", RSSecondary, ptr[int64](40))).SessionTimeoutMinutes), int64(30))
	same(t, "a secondary without a timeout", optional(Apply(d, timeout("c", RSSecondary, nil)).SessionTimeoutMinutes), nil)
}

func TestPoolReady(t *testing.T) {
	direct := Config{Seeds: []string{"a"}, Direct: ptr(true)}
	for name, c := range map[string]struct {
		d    *Description
		want bool
	}{
		"a primary":                   {start(t, rs("a"), member("a", RSPrimary, "a")), true},
		"an arbiter":                  {start(t, rs("a"), member("a", RSArbiter, "a")), false},
		"an arbiter, directly":        {start(t, direct, member("a", RSArbiter, "a")), true},
		"an unknown server, directly": {start(t, direct), false},
		"a removed server":            {start(t, rs("a"), &Server{Address: "a", Type: Mongos}), false},
	} {
		same(t, name, c.d.PoolReady("a"), c.want)
	}
}
