package inspect

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// View is what a client knows about a deployment at one moment. Its JSON form is stable: fields may be added.
type View struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"` // SDAM's TopologyType
	SetName string    `json:"set_name,omitempty"`
	Members []Member  `json:"members"` // by address
	Choices []Choice  `json:"choices"` // one for each read preference mode
	Router  *Router   `json:"router,omitempty"`
}

// Member is a server of a deployment.
type Member struct {
	Address string `json:"address"`
	Role    string `json:"role"`
	// RoundTripMS is the average time of a check, nil if none was measured.
	RoundTripMS *float64          `json:"round_trip_ms"`
	Release     string            `json:"release,omitempty"` // "8.0"
	WireVersion int32             `json:"wire_version,omitempty"`
	Tags        map[string]string `json:"tags,omitempty"`
	LastWrite   *time.Time        `json:"last_write,omitempty"`
	Pool        Pool              `json:"pool"`
	Error       string            `json:"error,omitempty"`
}

// View returns the deployment as the client sees it now.
func (w *Watcher) View() *View {
	v := &View{At: time.Now(), Kind: topology.UnknownTopology.String(), Members: []Member{}, Choices: []Choice{}}
	d := w.snapshot()
	if d == nil {
		return v
	}
	v.Kind, v.SetName = d.Type.String(), d.SetName
	for _, s := range d.Servers {
		v.Members = append(v.Members, w.member(s))
	}
	slices.SortFunc(v.Members, func(a, b Member) int { return strings.Compare(a.Address, b.Address) })
	v.Router = w.router.Load()
	v.Choices = choices(d, w.options)
	return v
}

func (w *Watcher) member(s *topology.Server) Member {
	m := Member{
		Address: s.Address, Role: roles[s.Type], Release: release(s.MaxWireVersion), WireVersion: s.MaxWireVersion, Tags: tagMap(s.Tags),
		Pool: w.poolOf(s.Address),
	}
	if s.Error != nil {
		m.Error = oneLine(s.Error)
	}
	if s.HasRTT {
		ms := milliseconds(s.RTT)
		m.RoundTripMS = &ms
	}
	if !s.LastWriteDate.IsZero() {
		m.LastWrite = &s.LastWriteDate
	}
	return m
}

func (w *Watcher) poolOf(address string) Pool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.pools[address]; p != nil {
		return p.Pool
	}
	return Pool{State: poolPaused}
}

// roles are the server types in words.
var roles = map[topology.ServerType]string{
	topology.Unknown:         "unknown",
	topology.PossiblePrimary: "unknown",
	topology.Standalone:      "standalone",
	topology.Mongos:          "mongos",
	topology.RSPrimary:       "primary",
	topology.RSSecondary:     "secondary",
	topology.RSArbiter:       "arbiter",
	topology.RSOther:         "other", // hidden, or starting up, or recovering
	topology.RSGhost:         "not initiated",
	topology.LoadBalancer:    "load balancer",
}

func tagMap(set tag.Set) map[string]string {
	if len(set) == 0 {
		return nil
	}
	m := make(map[string]string, len(set))
	for _, t := range set {
		m[t.Name] = t.Value
	}
	return m
}

// milliseconds returns d with two decimals.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// releases are the highest wire versions of MongoDB's releases.
var releases = map[int32]string{
	6: "3.6", 7: "4.0", 8: "4.2", 9: "4.4", 13: "5.0", 17: "6.0", 21: "7.0", 25: "8.0",
}

// release returns the release of a wire version, "" if the version is that of no release known here.
func release(wireVersion int32) string { return releases[wireVersion] }

// releaseOf returns the release of a version: "8.0" of "8.0.4".
func releaseOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
