package topology

import (
	"errors"
	"strings"
	"testing"
)

func TestInitialTopology(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want Type
	}{
		"one seed":                           {Config{Seeds: []string{"a:1"}}, UnknownTopology},
		"several seeds":                      {Config{Seeds: []string{"a:1", "b:1"}}, UnknownTopology},
		"directConnection=false":             {Config{Seeds: []string{"a:1"}, Direct: ptr(false)}, UnknownTopology},
		"replicaSet":                         {Config{Seeds: []string{"a:1"}, SetName: "rs"}, ReplicaSetNoPrimary},
		"replicaSet, directConnection=false": {Config{Seeds: []string{"a:1"}, SetName: "rs", Direct: ptr(false)}, ReplicaSetNoPrimary},
		"directConnection=true":              {Config{Seeds: []string{"a:1"}, Direct: ptr(true)}, Single},
		"replicaSet, directConnection=true":  {Config{Seeds: []string{"a:1"}, SetName: "rs", Direct: ptr(true)}, Single},
		"load balanced":                      {Config{Seeds: []string{"a:1"}, LoadBalanced: true}, LoadBalanced},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := New(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "kind", d.Type, c.want)
			same(t, "required name", d.SetName, c.cfg.SetName)
			same(t, "number of servers", len(d.Servers), len(c.cfg.Seeds))
			for _, s := range d.Servers {
				same(t, s.Address, s.Type, Unknown)
			}
		})
	}
}

func TestAnInvalidConfigurationNamesTheRule(t *testing.T) {
	for want, cfg := range map[string]Config{
		"no seeds": {},
		"empty":    {Seeds: []string{"a:1", ""}},
		"directConnection=true cannot be used with multiple seeds":     {Seeds: []string{"a:1", "b:1"}, Direct: ptr(true)},
		"loadBalanced=true cannot be used with directConnection=true":  {Seeds: []string{"a:1"}, LoadBalanced: true, Direct: ptr(true)},
		"loadBalanced=true cannot be used with replicaSet":             {Seeds: []string{"a:1"}, LoadBalanced: true, SetName: "rs"},
		"loadBalanced=true cannot be used with multiple seeds, there ": {Seeds: []string{"a:1", "b:1"}, LoadBalanced: true},
	} {
		if d, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) || d != nil {
			t.Errorf("%+v gives %v, %v, want an error with %q", cfg, d, err, want)
		}
	}
}

func TestASeedGivenTwiceIsOneServer(t *testing.T) {
	d, err := New(Config{Seeds: []string{"A.example:27017", "a.EXAMPLE:27017"}})
	if err != nil {
		t.Fatal(err)
	}
	sameAddresses(t, "servers", addresses(d.Servers), []string{"a.example:27017"})
	standalone := &Server{Address: "a.example:27017", Type: Standalone, MaxWireVersion: 21}
	same(t, "the topology of a standalone that is the only seed", Apply(d, standalone).Type, Single)
}

func TestKindsHaveTheSpecificationsNames(t *testing.T) {
	for got, want := range map[string]string{
		UnknownTopology.String():       "Unknown",
		ReplicaSetWithPrimary.String(): "ReplicaSetWithPrimary",
		LoadBalanced.String():          "LoadBalanced",
		Type(99).String():              "invalid",
		RSPrimary.String():             "RSPrimary",
		LoadBalancer.String():          "LoadBalancer",
	} {
		same(t, "name", got, want)
	}
	same(t, "name", ServerType(99).String(), "invalid")
}

func TestDataBearingAndWritable(t *testing.T) {
	for kind, want := range map[ServerType][2]bool{
		Unknown: {}, PossiblePrimary: {}, RSArbiter: {}, RSOther: {}, RSGhost: {}, ServerType(99): {},
		RSSecondary: {true, false},
		Standalone:  {true, true}, Mongos: {true, true}, RSPrimary: {true, true}, LoadBalancer: {true, true},
	} {
		s := &Server{Type: kind}
		same(t, kind.String()+" data-bearing", s.DataBearing(), want[0])
		same(t, kind.String()+" writable", s.Writable(), want[1])
	}
}

func TestEqualComparesTheFieldsThatTheSpecificationLists(t *testing.T) {
	parse := func(change func(*Server)) *Server {
		s, err := ParseHello("a:27017", hello(t, doc(
			"setName", "rs", "isWritablePrimary", true, "setVersion", 1, "electionId", election, "me", "a:27017",
			"hosts", []string{"a:27017", "b:27017"}, "passives", []string{"c:27017"}, "arbiters", []string{"d:27017"},
			"tags", doc("dc", "ny", "rack", "2"), "logicalSessionTimeoutMinutes", 30, "primary", "a:27017",
			"topologyVersion", doc("processId", process, "counter", 1),
		)))
		if err != nil {
			t.Fatal(err)
		}
		change(s)
		return s
	}
	original := parse(func(*Server) {})
	for name, change := range map[string]func(*Server){
		"round trip time": func(s *Server) { s.RTT, s.HasRTT = 1, true },
		"last write":      func(s *Server) { s.LastWriteDate = s.LastWriteDate.Add(1) },
		"last update":     func(s *Server) { s.LastUpdateTime = s.LastUpdateTime.Add(1) },
		"limits":          func(s *Server) { s.MaxBatchCount++ },
		"order of hosts":  func(s *Server) { s.Hosts = []string{"b:27017", "a:27017"} },
		"order of tags":   func(s *Server) { s.Tags[0], s.Tags[1] = s.Tags[1], s.Tags[0] },
	} {
		if s := parse(change); !original.Equal(s) || !s.Equal(original) {
			t.Errorf("a change of the %s must not count", name)
		}
	}
	for name, change := range map[string]func(*Server){
		"address":          func(s *Server) { s.Address = "x:27017" },
		"kind":             func(s *Server) { s.Type = RSSecondary },
		"error":            func(s *Server) { s.Error = errConnection },
		"min wire version": func(s *Server) { s.MinWireVersion++ },
		"max wire version": func(s *Server) { s.MaxWireVersion++ },
		"me":               func(s *Server) { s.Me = "" },
		"hosts":            func(s *Server) { s.Hosts = s.Hosts[:1] },
		"passives":         func(s *Server) { s.Passives = nil },
		"arbiters":         func(s *Server) { s.Arbiters = append(s.Arbiters, "e:27017") },
		"tags":             func(s *Server) { s.Tags[0].Value = "sf" },
		"set name":         func(s *Server) { s.SetName = "" },
		"election id":      func(s *Server) { s.ElectionID[0]++ },
		"set version":      func(s *Server) { s.SetVersion = nil },
		"primary":          func(s *Server) { s.Primary = "b:27017" },
		"session timeout":  func(s *Server) { *s.SessionTimeoutMinutes++ },
		"topology version": func(s *Server) { s.TopologyVersion.Counter++ },
	} {
		if s := parse(change); original.Equal(s) || s.Equal(original) {
			t.Errorf("a change of the %s must count", name)
		}
	}
}

func TestErrorsAreEqualByTheirTexts(t *testing.T) {
	a, b := NewUnknown("a:1", errors.New("x"), nil), NewUnknown("a:1", errors.New("x"), nil)
	if !a.Equal(b) || a.Equal(NewUnknown("a:1", errors.New("y"), nil)) {
		t.Error("two errors with the same text are equal")
	}
}

func TestEqualityOfTopologies(t *testing.T) {
	base := func() *Description {
		return &Description{
			Type: ReplicaSetNoPrimary, SetName: "rs", MaxSetVersion: ptr[int64](1), MaxElectionID: election,
			SessionTimeoutMinutes: ptr[int64](30), Servers: []*Server{NewUnknown("a:1", nil, nil), NewUnknown("b:1", nil, nil)},
		}
	}
	for name, change := range map[string]func(*Description){
		"kind":              func(d *Description) { d.Type = ReplicaSetWithPrimary },
		"set name":          func(d *Description) { d.SetName = "" },
		"max set version":   func(d *Description) { d.MaxSetVersion = nil },
		"max election id":   func(d *Description) { d.MaxElectionID = process },
		"session timeout":   func(d *Description) { *d.SessionTimeoutMinutes = 1 },
		"compatibility":     func(d *Description) { d.CompatibilityError = errConnection },
		"number of servers": func(d *Description) { d.Servers = d.Servers[:1] },
		"another server":    func(d *Description) { d.Servers[1] = NewUnknown("c:1", nil, nil) },
		"a server's state":  func(d *Description) { d.Servers[1] = NewUnknown("b:1", errConnection, nil) },
	} {
		d := base()
		change(d)
		if d.Equal(base()) || base().Equal(d) {
			t.Errorf("a change of the %s must count", name)
		}
	}
	if !base().Equal(base()) {
		t.Error("a description must be equal to itself")
	}
}
