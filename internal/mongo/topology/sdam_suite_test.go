package topology

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sdamSpec is one file of the SDAM suite.
type sdamSpec struct {
	URI    string      `bson:"uri"`
	Phases []sdamPhase `bson:"phases"`
}

type sdamPhase struct {
	Description       string             `bson:"description"`
	Responses         [][2]bson.RawValue `bson:"responses"` // address, reply
	ApplicationErrors []sdamError        `bson:"applicationErrors"`
	Outcome           sdamOutcome        `bson:"outcome"`
}

type sdamError struct {
	Address        string   `bson:"address"`
	Generation     *uint64  `bson:"generation"`
	MaxWireVersion int32    `bson:"maxWireVersion"`
	When           string   `bson:"when"`
	Type           string   `bson:"type"`
	Response       bson.Raw `bson:"response"`
}

type sdamOutcome struct {
	TopologyType          string              `bson:"topologyType"`
	SetName               *string             `bson:"setName"`
	Servers               map[string]bson.Raw `bson:"servers"`
	SessionTimeoutMinutes *int64              `bson:"logicalSessionTimeoutMinutes"`
	MaxSetVersion         *int64              `bson:"maxSetVersion"`
	MaxElectionID         bson.ObjectID       `bson:"maxElectionId"`
	Compatible            *bool               `bson:"compatible"`
	Events                []bson.Raw          `bson:"events"`
}

// simulation is the state of a client that the suite verifies.
type simulation struct {
	t     *testing.T
	d     *Description
	pools map[string]uint64 // generations
}

func newSimulation(t *testing.T, uri string) *simulation {
	d, err := New(configOf(t, uri))
	if err != nil {
		t.Fatal(err)
	}
	return &simulation{t: t, d: d, pools: map[string]uint64{}}
}

// start describes the load balancer, because it has no monitor.
func (sim *simulation) start() {
	if sim.d.Type == LoadBalanced {
		sim.d = Apply(sim.d, &Server{Address: sim.d.Servers[0].Address, Type: LoadBalancer})
	}
}

// respond applies the result of a check. An empty reply means a network error.
func (sim *simulation) respond(response [2]bson.RawValue) {
	addr, reply := response[0].StringValue(), response[1].Document()
	if len(reply) == len(bson.Raw{5, 0, 0, 0, 0}) {
		sim.react(addr)(OnCheckError(sim.d, addr, NetworkError, errConnection))
		return
	}
	s, err := ParseHello(addr, reply)
	if err != nil {
		sim.react(addr)(OnCheckError(sim.d, addr, CommandError, err))
		return
	}
	sim.d = Apply(sim.d, s)
}

func (sim *simulation) react(addr string) func(*Description, Reaction) {
	return func(next *Description, r Reaction) {
		sim.d = next
		if r.Pool != KeepPool {
			sim.pools[addr]++
		}
	}
}

func (sim *simulation) fail(e sdamError) {
	info := ErrorInfo{
		Err:            errConnection,
		HandshakeDone:  e.When == "afterHandshakeCompletes",
		MaxWireVersion: e.MaxWireVersion,
		Generation:     sim.pools[e.Address],
		PoolGeneration: sim.pools[e.Address],
	}
	if e.Generation != nil {
		info.Generation = *e.Generation
	}
	switch e.Type {
	case "network":
		info.Kind = NetworkError
	case "timeout":
		info.Kind = NetworkTimeout
	case "command":
		if !readReply(&info, e.Response) {
			return // no error at all
		}
	default:
		sim.t.Fatalf("unknown type of error %q", e.Type)
	}
	// The pool sets Overloaded for errors during the dial and hello.
	info.Overloaded = !info.HandshakeDone && info.Kind != CommandError
	sim.react(e.Address)(OnError(sim.d, e.Address, info))
}

// readReply reads an error reply into info. It returns false if the reply is no error; errors in writeErrors are
// ignored.
func readReply(info *ErrorInfo, reply bson.Raw) bool {
	if wce, ok := reply.Lookup("writeConcernError").DocumentOK(); ok {
		reply = wce
	} else if ok, _ := reply.Lookup("ok").AsInt64OK(); ok == 1 {
		return false
	}
	code, hasCode := reply.Lookup("code").AsInt64OK()
	message, _ := reply.Lookup("errmsg").StringValueOK()
	version, _ := reply.Lookup("topologyVersion").DocumentOK()
	info.Code, info.HasCode, info.Message = int32(code), hasCode, message
	info.Err, info.TopologyVersion = errors.New(message), ParseTopologyVersion(version)
	return true
}

func TestPublishedDiscovery(t *testing.T) {
	for folder, least := range map[string]int{"rs": 77, "single": 19, "sharded": 9, "load-balanced": 1, "errors": 72} {
		runSuite(t, "server-discovery-and-monitoring/tests/"+folder, least, func(t *testing.T, spec sdamSpec) {
			sim := newSimulation(t, spec.URI)
			sim.start()
			for _, phase := range spec.Phases {
				for _, response := range phase.Responses {
					sim.respond(response)
				}
				for _, e := range phase.ApplicationErrors {
					sim.fail(e)
				}
				sim.verify(phase.Description, &phase.Outcome)
			}
		})
	}
}

func (sim *simulation) verify(phase string, want *sdamOutcome) {
	t, d := sim.t, sim.d
	t.Helper()
	same(t, phase+": topologyType", d.Type.String(), want.TopologyType)
	same(t, phase+": setName", d.SetName, deref(want.SetName))
	same(t, phase+": logicalSessionTimeoutMinutes", optional(d.SessionTimeoutMinutes), optional(want.SessionTimeoutMinutes))
	if want.MaxSetVersion != nil {
		same(t, phase+": maxSetVersion", optional(d.MaxSetVersion), optional(want.MaxSetVersion))
	}
	if !want.MaxElectionID.IsZero() {
		same(t, phase+": maxElectionId", d.MaxElectionID, want.MaxElectionID)
	}
	if want.Compatible != nil {
		same(t, phase+": compatible", d.CompatibilityError == nil, *want.Compatible)
	}
	same(t, phase+": number of servers", len(d.Servers), len(want.Servers))
	for addr, server := range want.Servers {
		if s := d.Server(addr); s != nil {
			sim.verifyServer(phase+": "+addr, s, server)
		} else {
			t.Errorf("%s: %s is missing", phase, addr)
		}
	}
}

// verifyServer checks each key that the file lists. null means absent.
func (sim *simulation) verifyServer(where string, s *Server, want bson.Raw) {
	elements, err := want.Elements()
	if err != nil {
		sim.t.Fatal(err)
	}
	for _, e := range elements {
		got, expected := serverField(sim, s, e.Key()), fieldValue(e.Key(), e.Value())
		if e.Key() == "error" {
			if s.Error == nil || !strings.Contains(s.Error.Error(), e.Value().StringValue()) {
				sim.t.Errorf("%s: error is %v, want %s", where, s.Error, e.Value())
			}
			continue
		}
		same(sim.t, where+": "+e.Key(), got, expected)
	}
}

// serverField returns the field of a description that the suite calls key.
func serverField(sim *simulation, s *Server, key string) any {
	switch key {
	case "type":
		return s.Type.String()
	case "setName":
		return s.SetName
	case "setVersion":
		return optional(s.SetVersion)
	case "electionId":
		return s.ElectionID
	case "logicalSessionTimeoutMinutes":
		return optional(s.SessionTimeoutMinutes)
	case "minWireVersion":
		return int64(s.MinWireVersion)
	case "maxWireVersion":
		return int64(s.MaxWireVersion)
	case "topologyVersion":
		if s.TopologyVersion != nil {
			return *s.TopologyVersion
		}
		return nil
	case "pool":
		return int64(sim.pools[s.Address])
	case "error":
		return nil
	}
	sim.t.Fatalf("the suite has an unknown field of servers: %s", key)
	return nil
}

func fieldValue(key string, v bson.RawValue) any {
	switch {
	case key == "type" && v.StringValue() == "PossiblePrimary":
		return "Unknown" // the suite's rule for clients that check all servers at once
	case key == "topologyVersion" && v.Type == bson.TypeEmbeddedDocument:
		return *ParseTopologyVersion(v.Document())
	case key == "pool":
		return v.Document().Lookup("generation").AsInt64()
	case key == "electionId" && v.Type == bson.TypeNull:
		return bson.ObjectID{}
	case key == "electionId":
		return v.ObjectID()
	case key == "setName" && v.Type == bson.TypeNull:
		return ""
	case (key == "minWireVersion" || key == "maxWireVersion") && v.Type == bson.TypeNull:
		return int64(0)
	case v.Type == bson.TypeNull:
		return nil
	case v.Type == bson.TypeString:
		return v.StringValue()
	}
	return v.AsInt64()
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// optional returns the value that n points to, or nil, so that two of them can be compared.
func optional(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
