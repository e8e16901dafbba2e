package couchbasetest

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestMapsSayOnlyWhatTheVersionKnows has a row for each property of a cluster map that depends on the server's version in a way that
// clients read.
func TestMapsSayOnlyWhatTheVersionKnows(t *testing.T) {
	for _, c := range []struct {
		sentence string
		version  string
		storage  string
		holds    func(mapJSON) bool
	}{
		{"6.6 has no epoch", "6.6.0", "", func(m mapJSON) bool { return m.Epoch == 0 }},
		{"7.6.3 does not name the cluster", "7.6.3", "", func(m mapJSON) bool { return m.ClusterName == "" && m.ClusterUUID == "" }},
		{"7.6.4 names the cluster", "7.6.4", "", func(m mapJSON) bool { return m.ClusterName == "shop" && m.ClusterUUID != "" }},
		{"a bucket of couchstore keeps no history", "7.2", "couchstore", func(m mapJSON) bool { return !keepsHistory(m) }},
		{"a bucket of magma keeps its history", "7.2", "magma", keepsHistory},
		{"before 7.2 no bucket keeps its history", "7.1", "magma", func(m mapJSON) bool { return !keepsHistory(m) }},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			cluster := RunT(t, InMemory(), VBuckets(1), Version(c.version))
			management{cluster}.Rename("shop")
			shown := usual(false)
			shown.Storage = c.storage
			if err := cluster.create(Bucket{Name: "b"}, shown); err != nil {
				t.Fatal(err)
			}
			text, _, err := management{cluster}.Map(0, "b")
			if err != nil {
				t.Fatal(err)
			}
			var m mapJSON
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			if !c.holds(m) {
				t.Errorf("the map is %s", text)
			}
		})
	}
}

func keepsHistory(m mapJSON) bool { return slices.Contains(m.Capabilities, "nonDedupedHistory") }
