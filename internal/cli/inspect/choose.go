package inspect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Choice is the members that a read preference mode chooses from, with the tags and the staleness of the connection string. Of several the
// client takes the less busy of two that it picks at random.
type Choice struct {
	Mode    string     `json:"mode"`
	Default bool       `json:"default"` // the mode of the connection string
	Members []string   `json:"members"`
	Why     string     `json:"why"`
	Others  []Excluded `json:"others"`
}

// Excluded is a member that is not chosen.
type Excluded struct {
	Address string `json:"address"`
	Why     string `json:"why"`
}

// The defaults of the connection string's options: Server Selection, "localThresholdMS" and "heartbeatFrequencyMS".
const (
	defaultLocalThreshold    = 15 * time.Millisecond
	defaultHeartbeatInterval = 10 * time.Second
)

var modes = []readpref.Mode{
	readpref.PrimaryMode, readpref.PrimaryPreferredMode, readpref.SecondaryMode, readpref.SecondaryPreferredMode, readpref.NearestMode,
}

// choices returns the choice of each mode in d for a client with the options o.
func choices(d *topology.Description, o *options.ClientOptions) []Choice {
	preference := o.ReadPreference
	if preference == nil {
		preference = readpref.Primary()
	}
	all := make([]Choice, len(modes))
	for i, mode := range modes {
		c := newChooser(d, o, mode, preference)
		all[i] = c.choice()
		all[i].Default = mode == preference.Mode()
	}
	return all
}

// chooser explains one selection by leaving out its criteria one after the other.
type chooser struct {
	d                        *topology.Description
	full                     topology.Selection
	chosen                   []*topology.Server
	err                      error
	anyRTT, anyTags, anyTime []*topology.Server // without the latency window; without the tags too; without the staleness too
}

func newChooser(d *topology.Description, o *options.ClientOptions, mode readpref.Mode, given *readpref.ReadPref) *chooser {
	c := &chooser{d: d, full: topology.Selection{LocalThreshold: defaultLocalThreshold, HeartbeatInterval: defaultHeartbeatInterval}}
	if o.LocalThreshold != nil {
		c.full.LocalThreshold = *o.LocalThreshold
	}
	if o.HeartbeatInterval != nil {
		c.full.HeartbeatInterval = *o.HeartbeatInterval
	}
	tags := readpref.WithTagSets(given.TagSets()...)
	wide := c.full
	wide.LocalThreshold = math.MaxInt64
	c.full.ReadPref = preferenceOf(mode, tags, staleness(given))
	c.chosen, c.err = topology.Select(d, &c.full, nil)
	c.anyRTT = selected(d, wide, preferenceOf(mode, tags, staleness(given)))
	c.anyTags = selected(d, wide, preferenceOf(mode, nil, staleness(given)))
	c.anyTime = selected(d, wide, preferenceOf(mode, nil, nil))
	return c
}

func selected(d *topology.Description, s topology.Selection, p *readpref.ReadPref) []*topology.Server {
	s.ReadPref = p
	list, _ := topology.Select(d, &s, nil) // the whole selection has the error
	return list
}

// staleness returns the option with the limit, nil if there is none.
func staleness(given *readpref.ReadPref) readpref.Option {
	if limit, ok := given.MaxStaleness(); ok {
		return readpref.WithMaxStaleness(limit)
	}
	return nil
}

// preferenceOf returns a read preference. The mode primary has no other criteria.
func preferenceOf(mode readpref.Mode, opts ...readpref.Option) *readpref.ReadPref {
	opts = slices.DeleteFunc(opts, func(o readpref.Option) bool { return o == nil })
	if mode == readpref.PrimaryMode {
		opts = nil
	}
	p, err := readpref.New(mode, opts...)
	if err != nil {
		return readpref.Primary() // New fails only for criteria of the mode primary
	}
	return p
}

func (c *chooser) choice() Choice {
	choice := Choice{Mode: c.full.ReadPref.Mode().String(), Members: []string{}, Others: []Excluded{}, Why: c.why()}
	for _, s := range c.chosen {
		choice.Members = append(choice.Members, s.Address)
	}
	slices.Sort(choice.Members)
	for _, s := range c.d.Servers {
		if !slices.Contains(c.chosen, s) {
			choice.Others = append(choice.Others, Excluded{s.Address, c.whyNot(s)})
		}
	}
	slices.SortFunc(choice.Others, func(a, b Excluded) int { return strings.Compare(a.Address, b.Address) })
	return choice
}

// why says why the chosen members are chosen, or why there is none.
func (c *chooser) why() string {
	switch {
	case c.err != nil:
		return oneLine(c.err)
	case len(c.chosen) == 0:
		return c.whyNone()
	case c.d.Type == topology.Single || c.d.Type == topology.LoadBalanced:
		return "it is the only server"
	case c.d.Type == topology.Sharded:
		return c.window("mongos") + "; the mongos applies the read preference to the members behind it"
	}
	mode := c.full.ReadPref.Mode()
	if c.chosen[0].Type == topology.RSPrimary && len(c.chosen) == 1 {
		if mode == readpref.SecondaryPreferredMode {
			return "no secondary is suitable, so the primary is read"
		}
		if mode != readpref.NearestMode {
			return "it is the primary"
		}
	}
	reason := c.window("member")
	if mode == readpref.PrimaryPreferredMode {
		reason = "there is no primary; " + reason
	}
	return reason
}

func (c *chooser) whyNone() string {
	switch c.d.Type {
	case topology.ReplicaSetNoPrimary, topology.ReplicaSetWithPrimary:
		return topology.NoMemberMessage(c.full.ReadPref)
	case topology.UnknownTopology, topology.Single, topology.Sharded, topology.LoadBalanced:
	}
	return "no server is available"
}

// window describes the latency window of the chosen servers.
func (c *chooser) window(noun string) string {
	least, measured := c.fastest()
	switch {
	case !measured:
		return "no round trip was measured, so each suitable " + noun + " is chosen"
	case len(c.chosen) == 1 && len(c.anyRTT) == 1:
		return "it is the only suitable " + noun
	case len(c.chosen) == 1:
		return fmt.Sprintf("it is the fastest (%v ms), and no other one is within %v ms of it", milliseconds(least), milliseconds(c.full.LocalThreshold))
	}
	return fmt.Sprintf("their round trips are within %v ms of the least, %v ms", milliseconds(c.full.LocalThreshold), milliseconds(least))
}

// fastest returns the least round trip time of the chosen servers.
func (c *chooser) fastest() (least time.Duration, measured bool) {
	for _, s := range c.chosen {
		if s.HasRTT && (!measured || s.RTT < least) {
			least, measured = s.RTT, true
		}
	}
	return least, measured
}

// whyNot says which criterion s does not meet.
func (c *chooser) whyNot(s *topology.Server) string {
	switch {
	case !s.Known() && s.Error != nil:
		return "it does not answer"
	case !s.Known():
		return "it was not checked yet"
	case slices.Contains(c.anyRTT, s) && !s.HasRTT:
		return "its round trip was not measured yet"
	case slices.Contains(c.anyRTT, s):
		least, _ := c.fastest()
		return fmt.Sprintf("its round trip, %v ms, is more than %v ms above the least, %v ms", milliseconds(s.RTT), milliseconds(c.full.LocalThreshold), milliseconds(least))
	case slices.Contains(c.anyTags, s):
		return "it has not the tags of the connection string, or another tag set comes first"
	case slices.Contains(c.anyTime, s):
		return "its last write is older than maxStalenessSeconds permits"
	}
	return c.whyNotByRole(s)
}

func (c *chooser) whyNotByRole(s *topology.Server) string {
	mode := c.full.ReadPref.Mode()
	switch {
	case s.Type == topology.RSSecondary && mode == readpref.PrimaryMode:
		return "it is a secondary"
	case s.Type == topology.RSSecondary:
		return "the primary is preferred"
	case s.Type == topology.RSPrimary && mode == readpref.SecondaryMode:
		return "it is the primary"
	case s.Type == topology.RSPrimary:
		return "secondaries are preferred"
	case s.Type == topology.RSOther:
		return "it is hidden, or is not ready (starting up, recovering)"
	}
	return "a client reads from no " + roles[s.Type]
}
