package inspect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// server returns a member with a round trip time in milliseconds.
func server(address string, kind topology.ServerType, ms int, tags ...string) *topology.Server {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s := &topology.Server{
		Address: address, Type: kind, HasRTT: true, RTT: time.Duration(ms) * time.Millisecond, LastWriteDate: now, LastUpdateTime: now, MaxWireVersion: 25,
	}
	for i := 0; i < len(tags); i += 2 {
		s.Tags = append(s.Tags, tag.Tag{Name: tags[i], Value: tags[i+1]})
	}
	return s
}

// set returns a set: p is the primary, near and far are secondaries, old is a secondary that is an hour behind.
func set(without ...string) *topology.Description {
	d := &topology.Description{Type: topology.ReplicaSetWithPrimary, SetName: "rs0"}
	for _, s := range []*topology.Server{
		server("p:1", topology.RSPrimary, 5, "dc", "east"), server("near:1", topology.RSSecondary, 10, "dc", "east"),
		server("far:1", topology.RSSecondary, 80, "dc", "west"), server("old:1", topology.RSSecondary, 5, "dc", "east"),
		server("arbiter:1", topology.RSArbiter, 1), server("hidden:1", topology.RSOther, 1),
	} {
		if s.Address == "old:1" {
			s.LastWriteDate = s.LastWriteDate.Add(-time.Hour)
		}
		if !slices.Contains(without, s.Address) {
			d.Servers = append(d.Servers, s)
		} else if s.Type == topology.RSPrimary {
			d.Type = topology.ReplicaSetNoPrimary
		}
	}
	return d
}

func TestWhereAReadGoesAndWhy(t *testing.T) {
	for _, c := range []struct {
		name, query, mode string
		d                 *topology.Description
		members           string // with commas between them
		why               string
		not               map[string]string
	}{
		{
			"the primary", "", "primary", set(), "p:1", "it is the primary",
			map[string]string{"near:1": "it is a secondary", "arbiter:1": "a client reads from no arbiter", "hidden:1": "it is hidden, or is not ready"},
		},
		{"the primary is preferred", "", "primaryPreferred", set(), "p:1", "it is the primary", map[string]string{"near:1": "the primary is preferred"}},
		{"no primary, but preferred", "", "primaryPreferred", set("p:1"), "near:1,old:1", "there is no primary; their round trips are within 15 ms of the least, 5 ms", nil},
		{"no primary", "", "primary", set("p:1"), "", "No replica set primary available", map[string]string{"near:1": "it is a secondary"}},
		{
			"the latency window", "", "secondary", set(), "near:1,old:1", "their round trips are within 15 ms of the least, 5 ms",
			map[string]string{"far:1": "its round trip, 80 ms, is more than 15 ms above the least, 5 ms", "p:1": "it is the primary"},
		},
		{"a wide latency window", "&localThresholdMS=100", "secondary", set(), "far:1,near:1,old:1", "within 100 ms", nil},
		{"the tags", "&readPreference=secondary&readPreferenceTags=dc:west", "secondary", set(), "far:1", "it is the only suitable member", map[string]string{"near:1": "it has not the tags"}},
		{"no member with the tags", "&readPreference=secondary&readPreferenceTags=dc:north", "secondary", set(), "", "tags [{dc: north}]", map[string]string{"far:1": "it has not the tags"}},
		{
			"the staleness", "&readPreference=secondary&maxStalenessSeconds=120", "secondary", set("far:1"), "near:1", "it is the only suitable member",
			map[string]string{"old:1": "its last write is older than maxStalenessSeconds permits"},
		},
		{"a staleness that is too small", "&readPreference=secondary&maxStalenessSeconds=20", "secondary", set(), "", "maxStalenessSeconds must be at least", nil},
		{"the primary instead of a secondary", "&readPreference=secondaryPreferred&readPreferenceTags=dc:north", "secondaryPreferred", set(), "p:1", "no secondary is suitable", nil},
		{"secondaries are preferred", "", "secondaryPreferred", set(), "near:1,old:1", "within 15 ms", map[string]string{"p:1": "secondaries are preferred"}},
		{"the nearest", "&localThresholdMS=1", "nearest", set("old:1"), "p:1", "it is the fastest (5 ms), and no other one is within 1 ms", map[string]string{"near:1": "more than 1 ms above"}},
	} {
		o := options.Client().ApplyURI("mongodb://p:1/?replicaSet=rs0" + c.query)
		all := choices(c.d, o)
		got := all[slices.IndexFunc(all, func(choice Choice) bool { return choice.Mode == c.mode })]
		if strings.Join(got.Members, ",") != c.members || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %v because %q, want %s because %q", c.name, got.Members, got.Why, c.members, c.why)
		}
		for _, o := range got.Others {
			if !strings.Contains(o.Why, c.not[o.Address]) {
				t.Errorf("%s: not %s because %q, want %q", c.name, o.Address, o.Why, c.not[o.Address])
			}
			delete(c.not, o.Address)
		}
		if len(c.not) > 0 || len(got.Members)+len(got.Others) != len(c.d.Servers) {
			t.Errorf("%s: %v are not among the others %+v", c.name, c.not, got.Others)
		}
	}
}

func TestTheModeOfTheConnectionStringIsMarked(t *testing.T) {
	for query, mode := range map[string]string{"": "primary", "?readPreference=nearest": "nearest"} {
		for _, c := range choices(set(), options.Client().ApplyURI("mongodb://p:1/"+query)) {
			if c.Default != (c.Mode == mode) {
				t.Errorf("%q: %s is the default: %t", query, c.Mode, c.Default)
			}
		}
	}
}

func TestAServerThatDoesNotAnswerIsNotChosen(t *testing.T) {
	d := set()
	d.Servers[1] = topology.NewUnknown("near:1", errRefused, nil)
	d.Servers[2] = topology.NewUnknown("far:1", nil, nil)
	for _, c := range choices(d, options.Client()) {
		why := make(map[string]string)
		for _, o := range c.Others {
			why[o.Address] = o.Why
		}
		if why["near:1"] != "it does not answer" || why["far:1"] != "it was not checked yet" {
			t.Errorf("%s: %v", c.Mode, why)
		}
	}
}
