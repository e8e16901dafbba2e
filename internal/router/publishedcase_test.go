package router_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// publishedCase is a file of MongoDB's suites of server selection and of max staleness.
type publishedCase struct {
	HeartbeatMS int64 `bson:"heartbeatFrequencyMS"`
	Topology    struct {
		Servers []publishedServer `bson:"servers"`
	} `bson:"topology_description"`
	Operation  string `bson:"operation"`
	Preference struct {
		Mode      string   `bson:"mode"`
		TagSets   []bson.D `bson:"tag_sets"`
		Staleness *int64   `bson:"maxStalenessSeconds"`
	} `bson:"read_preference"`
	Deprioritized []publishedServer `bson:"deprioritized_servers"`
	InWindow      []publishedServer `bson:"in_latency_window"`
	Error         bool              `bson:"error"` // of the preference itself

	// Of the suite in_window.
	Busy []struct {
		Address    string `bson:"address"`
		Operations int    `bson:"operation_count"`
	} `bson:"mocked_topology_state"`
	Iterations int `bson:"iterations"`
	Outcome    struct {
		Tolerance   float64            `bson:"tolerance"`
		Frequencies map[string]float64 `bson:"expected_frequencies"`
	} `bson:"outcome"`
}

type publishedServer struct {
	Address   string            `bson:"address"`
	Type      string            `bson:"type"`
	RTT       int64             `bson:"avg_rtt_ms"`
	Tags      map[string]string `bson:"tags"`
	Updated   int64             `bson:"lastUpdateTime"`
	LastWrite struct {
		Date int64 `bson:"lastWriteDate"`
	} `bson:"lastWrite"`
}

func (s *publishedServer) primary() bool { return s.Type == "RSPrimary" }
func (s *publishedServer) runs() bool    { return s.primary() || s.Type == "RSSecondary" }

// hasPrimary reports whether one of the servers is the primary. If not, the set has one more member, the last one, which was the primary.
func (c *publishedCase) hasPrimary() bool {
	return slices.ContainsFunc(c.Topology.Servers, func(s publishedServer) bool { return s.primary() })
}

// members returns the number of members, and their options. Only the primary can be elected.
func (c *publishedCase) members() (int, []mongotest.Option) {
	var options []mongotest.Option
	for i, s := range c.Topology.Servers {
		priority := 0.0
		if s.primary() {
			priority = 1
		}
		if len(c.Busy) > 0 { // so that a test can choose the member
			s.Tags = map[string]string{"dc": s.Address}
		}
		options = append(options, mongotest.Member(i, mongotest.Priority(priority), mongotest.Tags(s.Tags), mongotest.MemberLatency(oneWay(s.RTT))))
	}
	n := len(c.Topology.Servers)
	if !c.hasPrimary() {
		n++
	}
	return n, options
}

// oneWay returns how long bytes travel to a server.
func oneWay(rtt int64) time.Duration { return time.Duration(rtt) * time.Millisecond / 2 }

// command returns the command of the case.
func (c *publishedCase) command() bson.D {
	if c.Operation == "write" {
		return command("insert", "c", e("documents", bson.A{bson.D{}}), c.preference())
	}
	return command("find", "c", c.preference())
}

func (c *publishedCase) preference() bson.E {
	mode := cmp.Or(c.Preference.Mode, "Primary")
	if len(c.Busy) > 0 { // the suite has no preference
		mode = "Nearest"
	}
	document := d("mode", strings.ToLower(mode[:1])+mode[1:])
	if c.Preference.TagSets != nil {
		document = append(document, e("tags", c.Preference.TagSets))
	}
	if c.Preference.Staleness != nil {
		document = append(document, e("maxStalenessSeconds", *c.Preference.Staleness))
	}
	return e("$readPreference", document)
}

// index returns the member that is a server of the case.
func (c *publishedCase) index(address string) int {
	return slices.IndexFunc(c.Topology.Servers, func(s publishedServer) bool { return s.Address == address })
}

// indices returns the members that are servers of the case.
func (c *publishedCase) indices(servers []publishedServer) []int {
	var list []int
	for _, s := range servers {
		list = append(list, c.index(s.Address))
	}
	return list
}

// lags returns how much older than the primary's the last write of each member is or, without a primary, than the newest. A server tells when
// its last write was to the second, so what is a millisecond too stale in the file is a second too stale here.
func (c *publishedCase) lags() []time.Duration {
	reference := int64(math.MaxInt64)
	for i, s := range c.Topology.Servers {
		if s.primary() || !c.hasPrimary() && s.runs() {
			reference = min(reference, c.age(i))
		}
	}
	lags := make([]time.Duration, len(c.Topology.Servers))
	for i, s := range c.Topology.Servers {
		if s.runs() && c.age(i) > reference { // none is fresher than the primary
			lags[i] = time.Duration((c.age(i)-reference+999)/1000) * time.Second
		}
	}
	return lags
}

// age returns how old the last write of a member was when the case heard of it, in milliseconds from any moment. Without a primary it does not
// matter when that was.
func (c *publishedCase) age(i int) int64 {
	s := &c.Topology.Servers[i]
	if !c.hasPrimary() {
		return -s.LastWrite.Date
	}
	return s.Updated - s.LastWrite.Date
}
