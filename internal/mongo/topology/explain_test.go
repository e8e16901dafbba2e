package topology

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// TestNoMemberMessage checks the messages that the Read Preferences document lists.
func TestNoMemberMessage(t *testing.T) {
	tags := readpref.WithTagSets(tag.Set{ny, {Name: "rack", Value: "2"}}, tag.Set{})
	nothing := readpref.WithTagSets(tag.Set{})
	for want, preferences := range map[string][]*readpref.ReadPref{
		"No replica set primary available for query with ReadPreference PRIMARY":     {nil, readpref.Primary()},
		"No replica set secondary available for query with ReadPreference SECONDARY": {readpref.Secondary(), readpref.Secondary(nothing)},
		"No replica set members available for query": {
			readpref.Nearest(), readpref.PrimaryPreferred(), readpref.SecondaryPreferred(), readpref.SecondaryPreferred(nothing),
		},
		"No replica set member available for query with ReadPreference SECONDARY and tags [{dc: ny, rack: 2}, {}]":           {readpref.Secondary(tags)},
		"No replica set member available for query with ReadPreference NEAREST and tags [{dc: ny, rack: 2}, {}]":             {readpref.Nearest(tags)},
		"No replica set member available for query with ReadPreference PRIMARY_PREFERRED and tags [{dc: ny, rack: 2}, {}]":   {readpref.PrimaryPreferred(tags)},
		"No replica set member available for query with ReadPreference SECONDARY_PREFERRED and tags [{dc: ny, rack: 2}, {}]": {readpref.SecondaryPreferred(tags)},
	} {
		for _, rp := range preferences {
			same(t, "wording", NoMemberMessage(rp), want)
			got := Explain(start(t, rs("a")), reading(rp))
			if !strings.HasPrefix(got, want+" (") {
				t.Errorf("%q does not begin with %q", got, want)
			}
		}
	}
}

func TestExplainDescribesEachServer(t *testing.T) {
	d := start(t, rs("a:1", "b:1"), member("a:1", RSSecondary, "a:1", "b:1"), NewUnknown("b:1", errors.New("dial\n\ttcp: refused"), nil))
	same(t, "text", Explain(d, reading(nil)), "No replica set primary available for query with ReadPreference PRIMARY "+
		`(topology ReplicaSetNoPrimary, replica set "rs"; a:1 RSSecondary; b:1 Unknown, dial tcp: refused)`)
	write := reading(readpref.Nearest())
	write.Write = true
	same(t, "a write needs a primary", Explain(d, write), Explain(d, reading(nil)))
}

func TestExplainWithoutAReplicaSet(t *testing.T) {
	for want, d := range map[string]*Description{
		"No mongos available (topology Sharded; a Unknown, connection refused)": start(t, Config{Seeds: []string{"a"}},
			&Server{Address: "a", Type: Mongos, MaxWireVersion: 21}, NewUnknown("a", errConnection, nil)),
		"The server is not available (topology Single; a Unknown)": start(t, Config{Seeds: []string{"a"}, Direct: ptr(true)}),
		"No replica set primary available for query with ReadPreference PRIMARY (topology Unknown, no servers left)": start(t,
			Config{Seeds: []string{"a", "b"}}, &Server{Address: "a", Type: Standalone}, &Server{Address: "b", Type: Standalone}),
		"Server at a reports wire version 1, but this version of Holdfast requires at least 6 (MongoDB 3.6). (topology Single; a Standalone)": start(t,
			Config{Seeds: []string{"a"}, Direct: ptr(true)}, &Server{Address: "a", Type: Standalone, MaxWireVersion: 1}),
	} {
		same(t, "text", Explain(d, reading(nil)), want)
	}
	invalid := Explain(start(t, rs("a")), reading(readpref.Nearest(readpref.WithMaxStaleness(1))))
	if !strings.HasPrefix(invalid, "maxStalenessSeconds must be at least 1m30s") {
		t.Errorf("an invalid preference gives %q", invalid)
	}
}

func TestATagSetOfOneTagIsNamed(t *testing.T) {
	one := readpref.Nearest(readpref.WithTagSets(tag.Set{ny}))
	same(t, "text", NoMemberMessage(one), "No replica set member available for query with ReadPreference NEAREST and tags [{dc: ny}]")
}
