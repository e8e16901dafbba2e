package couchbasetest

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestMapsSayOnlyWhatTheVersionKnows has a row for each property of a cluster map that depends on the server's version in a way that
// clients read. ns_server has the abilities of buckets by version in a test, and Couchbase's docs show the reply of an 8.0.
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
		{"7.0 cannot replace a body", "7.0", "", cannot("subdoc.ReplaceBodyWithXattr")},
		{"7.1 replaces bodies and knows macros of the document", "7.1", "", can("subdoc.ReplaceBodyWithXattr", "subdoc.DocumentMacroSupport")},
		{"7.1 cannot revive", "7.1", "", cannot("subdoc.ReviveDocument")},
		{"7.2 can revive", "7.2", "", can("subdoc.ReviveDocument", "dcp.IgnorePurgedTombstones")},
		{"7.2 does not say that it preserves expiries", "7.2", "", cannot("preserveExpiry", "querySystemCollection", "subdoc.ReplicaRead")},
		{"7.6 says that it preserves expiries", "7.6", "", can("preserveExpiry", "querySystemCollection", "subdoc.ReplicaRead")},
		{"7.6 has no binary attributes", "7.6", "", cannot("subdoc.BinaryXattr", "subdoc.AccessDeleted")},
		{"8.0 has binary attributes", "8.0", "", can("subdoc.BinaryXattr", "subdoc.AccessDeleted")},
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

func can(names ...string) func(mapJSON) bool {
	return func(m mapJSON) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(m.Capabilities, name) })
	}
}

func cannot(names ...string) func(mapJSON) bool {
	return func(m mapJSON) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(m.Capabilities, name) })
	}
}

func keepsHistory(m mapJSON) bool { return slices.Contains(m.Capabilities, "nonDedupedHistory") }
