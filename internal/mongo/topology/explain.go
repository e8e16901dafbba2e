package topology

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// Explain returns in one line why Select finds no server in d or fails: the server that was wanted, and the
// description of each known server. Server selection errors contain it.
func Explain(d *Description, s *Selection) string {
	return missing(d, s) + " (" + d.String() + ")"
}

func missing(d *Description, s *Selection) string {
	if d.CompatibilityError != nil {
		return d.CompatibilityError.Error()
	}
	if err := s.check(d); err != nil {
		return err.Error()
	}
	switch d.Type {
	case Sharded:
		return "No mongos available"
	case Single, LoadBalanced:
		return "The server is not available"
	case UnknownTopology, ReplicaSetNoPrimary, ReplicaSetWithPrimary:
	}
	if s.Write {
		return NoMemberMessage(nil)
	}
	return NoMemberMessage(s.ReadPref)
}

// NoMemberMessage returns the message that the Read Preferences document of 2014 prescribes if no member matches rp.
// A nil rp means primary.
func NoMemberMessage(rp *readpref.ReadPref) string {
	if rp == nil {
		rp = readpref.Primary()
	}
	if tags := tagsText(rp.TagSets()); tags != "" {
		return fmt.Sprintf("No replica set member available for query with ReadPreference %s and tags %s", modeText(rp.Mode()), tags)
	}
	switch rp.Mode() {
	case readpref.PrimaryMode:
		return "No replica set primary available for query with ReadPreference PRIMARY"
	case readpref.SecondaryMode:
		return "No replica set secondary available for query with ReadPreference SECONDARY"
	case readpref.PrimaryPreferredMode, readpref.SecondaryPreferredMode, readpref.NearestMode:
	}
	return "No replica set members available for query"
}

func modeText(mode readpref.Mode) string {
	switch mode {
	case readpref.PrimaryPreferredMode:
		return "PRIMARY_PREFERRED"
	case readpref.SecondaryPreferredMode:
		return "SECONDARY_PREFERRED"
	case readpref.PrimaryMode, readpref.SecondaryMode, readpref.NearestMode:
	}
	return strings.ToUpper(mode.String())
}

// tagsText returns the tag sets as text, or "" if all of them are empty.
func tagsText(sets []tag.Set) string {
	texts, anyTags := make([]string, len(sets)), false
	for i, set := range sets {
		pairs := make([]string, len(set))
		for j, t := range set {
			pairs[j] = t.Name + ": " + t.Value
		}
		texts[i] = "{" + strings.Join(pairs, ", ") + "}"
		anyTags = anyTags || len(set) > 0
	}
	if !anyTags {
		return ""
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// String returns the topology in one line: its type, its set, and the address, type and error of each server.
// Line breaks in errors become spaces.
func (d *Description) String() string {
	var b strings.Builder
	b.WriteString("topology " + d.Type.String())
	if d.SetName != "" {
		fmt.Fprintf(&b, ", replica set %q", d.SetName)
	}
	if len(d.Servers) == 0 {
		b.WriteString(", no servers left")
	}
	for _, s := range d.Servers {
		b.WriteString("; " + s.Address + " " + s.Type.String())
		if s.Error != nil {
			b.WriteString(", " + strings.Join(strings.Fields(s.Error.Error()), " "))
		}
	}
	return b.String()
}
