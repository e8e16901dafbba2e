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
		{"a bucket of 7.6 has views", "7.6", "", can("couchapi")},
		{"a bucket of 8.0 has none, because it is one of magma", "8.0", "", cannot("couchapi")},
		{"a bucket of couchstore has views with 8.0 too", "8.0", "couchstore", can("couchapi")},
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
			if err := cluster.CreateBucket(Bucket{Name: "b", Storage: c.storage}); err != nil {
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

func TestABucketHasAsManyVBucketsAsTheVersionHas(t *testing.T) {
	for _, test := range []struct {
		sentence string
		opts     []Option
		bucket   Bucket
		want     int
	}{
		{"8.0 has 128", nil, Bucket{}, 128},
		{"couchstore has 1,024", nil, Bucket{Storage: "couchstore"}, 1024},
		{"an ephemeral bucket has 1,024", nil, Bucket{Ephemeral: true}, 1024},
		{"7.6 has 1,024", []Option{Version("7.6")}, Bucket{Storage: "magma"}, 1024},
		{"the option holds for all", []Option{VBuckets(3)}, Bucket{}, 3},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			test.bucket.Name = "b"
			c := RunT(t, append([]Option{InMemory(), Buckets(test.bucket)}, test.opts...)...)
			text, _, err := management{c}.Map(0, "b")
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				VBucketServerMap struct{ VBucketMap [][]int }
			}
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			if n, shown := len(m.VBucketServerMap.VBucketMap), (management{c}).Buckets()[0].VBuckets; n != test.want || shown != n {
				t.Errorf("the map has %d vbuckets, the management service shows %d; want %d", n, shown, test.want)
			}
		})
	}
}
