package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Change is one difference between two views. Its JSON form is stable: fields and kinds of changes may be added.
type Change struct {
	At time.Time `json:"at"`
	// Change is one of topology, added, removed, role, error, version, tags, pool, choice.
	Change  string `json:"change"`
	Address string `json:"address,omitempty"` // of the member
	Mode    string `json:"mode,omitempty"`    // of the choice
	From    string `json:"from"`
	To      string `json:"to"`
}

// String returns the change in one line, without its time.
func (c Change) String() string {
	subject := cmp.Or(c.Address, c.Mode, "the deployment")
	switch c.Change {
	case "added":
		return fmt.Sprintf("%s: added (%s)", subject, c.To)
	case "removed":
		return fmt.Sprintf("%s: removed (was %s)", subject, c.From)
	case "choice":
		return fmt.Sprintf("reads with %s: %s -> %s", subject, cmp.Or(c.From, "none"), cmp.Or(c.To, "none"))
	}
	return fmt.Sprintf("%s: %s %s -> %s", subject, c.Change, cmp.Or(c.From, "none"), cmp.Or(c.To, "none"))
}

// Changes returns the differences between two views. Round trip times, last writes and the numbers of connections change all the time and are
// none.
func Changes(old, next *View) []Change {
	c := &comparison{at: next.At}
	c.add("topology", "", topologyText(old), topologyText(next))
	before := byAddress(old)
	for _, m := range next.Members {
		if was, known := before[m.Address]; known {
			c.member(was, m)
		} else {
			c.list = append(c.list, Change{At: c.at, Change: "added", Address: m.Address, To: m.Role})
		}
		delete(before, m.Address)
	}
	for _, address := range slices.Sorted(maps.Keys(before)) {
		c.list = append(c.list, Change{At: c.at, Change: "removed", Address: address, From: before[address].Role})
	}
	c.choices(old, next)
	return c.list
}

type comparison struct {
	at   time.Time
	list []Change
}

func (c *comparison) add(kind, address, from, to string) {
	if from != to {
		c.list = append(c.list, Change{At: c.at, Change: kind, Address: address, From: from, To: to})
	}
}

func (c *comparison) member(old, next Member) {
	c.add("role", next.Address, old.Role, next.Role)
	c.add("error", next.Address, old.Error, next.Error)
	if next.WireVersion != 0 && old.WireVersion != 0 { // an unknown member has none
		c.add("version", next.Address, versionText(old), versionText(next))
		c.add("tags", next.Address, tagText(old.Tags), tagText(next.Tags))
	}
	c.add("pool", next.Address, old.Pool.State, next.Pool.State)
}

func (c *comparison) choices(old, next *View) {
	for _, n := range next.Choices {
		at := slices.IndexFunc(old.Choices, func(o Choice) bool { return o.Mode == n.Mode })
		if at < 0 || slices.Equal(old.Choices[at].Members, n.Members) {
			continue
		}
		from := strings.Join(old.Choices[at].Members, ", ")
		c.list = append(c.list, Change{At: c.at, Change: "choice", Mode: n.Mode, From: from, To: strings.Join(n.Members, ", ")})
	}
}

func byAddress(v *View) map[string]Member {
	all := make(map[string]Member, len(v.Members))
	for _, m := range v.Members {
		all[m.Address] = m
	}
	return all
}

func versionText(m Member) string {
	return cmp.Or(m.Release, fmt.Sprintf("wire version %d", m.WireVersion))
}

func tagText(tags map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		pairs = append(pairs, name+"="+tags[name])
	}
	return strings.Join(pairs, " ")
}
