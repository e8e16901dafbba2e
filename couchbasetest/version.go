package couchbasetest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// newestVersion is that of the server that the nodes behave as by default.
const newestVersion = "8.0.0"

// profile is what depends on the version of a server.
type profile struct {
	version  string
	number   [3]int
	accepted memd.Features
}

// since has the version in which each feature came.
var since = []struct {
	version  [2]int
	features []memd.Feature
}{
	{[2]int{5, 0}, []memd.Feature{
		memd.FeatureTLS, memd.FeatureTCPNoDelay, memd.FeatureMutationTokens, memd.FeatureXattr, memd.FeatureXerror, memd.FeatureSelectBucket,
		memd.FeatureSnappy, memd.FeatureJSON, memd.FeatureDuplex, memd.FeatureFullMapPush,
	}},
	{[2]int{5, 5}, []memd.Feature{memd.FeatureServerDurations}},
	{[2]int{6, 0}, []memd.Feature{memd.FeatureUnorderedExecution}},
	{[2]int{6, 5}, []memd.Feature{memd.FeatureFlexibleRequests, memd.FeatureDurability, memd.FeatureVirtualXattrs}},
	{[2]int{6, 6}, []memd.Feature{memd.FeatureCreateAsDeleted}},
	{[2]int{7, 0}, []memd.Feature{memd.FeatureCollections, memd.FeaturePreserveExpiry, memd.FeatureDocumentMacros}},
	{[2]int{7, 1}, []memd.Feature{memd.FeatureReplaceBodyWithXattr}},
	{[2]int{7, 6}, []memd.Feature{
		memd.FeatureSnappyEverywhere, memd.FeatureReplicaLookup, memd.FeatureKnownMapVersion, memd.FeatureDedupeMaps, memd.FeatureBriefMapPush,
		memd.FeatureManyXattrs,
	}},
	{[2]int{8, 0}, []memd.Feature{memd.FeatureBinaryXattrs}},
}

// profileOf returns the profile of a version of 5.0 or newer.
func profileOf(version string) (*profile, error) {
	p := &profile{version: version}
	plain, _, _ := strings.Cut(version, "-")
	for i, text := range strings.SplitN(plain, ".", len(p.number)) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("couchbasetest: Version(%q): it is not a version such as 7.6", version)
		}
		p.number[i] = n
	}
	if !p.atLeast(5, 0) {
		return nil, fmt.Errorf("couchbasetest: Version(%q): the oldest is 5.0", version)
	}
	for _, s := range since {
		if p.atLeast(s.version[:]...) {
			for _, f := range s.features {
				p.accepted.Add(f)
			}
		}
	}
	return p, nil
}

// atLeast reports whether the version is one or newer, by its first numbers.
func (p *profile) atLeast(version ...int) bool {
	return slices.Compare(p.number[:len(version)], version) >= 0
}

// mapsWithoutBucket reports whether a connection without a bucket gets the cluster's map.
func (p *profile) mapsWithoutBucket() bool { return p.atLeast(6, 5) }

// epoch is that of all cluster maps. Old servers have none.
func (p *profile) epoch() int64 {
	if p.atLeast(7, 0) {
		return 1
	}
	return 0
}

// versionExtras is how a pushed map says its version: old servers say only the revision.
func (p *profile) versionExtras(v memd.MapVersion) []byte {
	if p.atLeast(7, 0) {
		return memd.AppendMapVersion(nil, v)
	}
	return binary.BigEndian.AppendUint32(nil, uint32(v.Revision))
}

// bucketCapabilities are what a bucket's map says that the bucket can do.
func (p *profile) bucketCapabilities(views bool) []string {
	list := []string{"cbhello", "cccp", "nodesExt", "touch", "xattr", "xdcrCheckpointing"}
	if views {
		list = append(list, "couchapi")
	}
	if p.atLeast(6, 5) {
		list = append(list, "durableWrite")
	}
	if p.atLeast(6, 6) {
		list = append(list, "tombstonedUserXAttrs")
	}
	if p.atLeast(7, 0) {
		list = append(list, "collections")
	}
	if p.atLeast(7, 1) {
		list = append(list, "subdoc.ReplaceBodyWithXattr", "subdoc.DocumentMacroSupport")
	}
	if p.atLeast(7, 2) {
		list = append(list, "subdoc.ReviveDocument", "dcp.IgnorePurgedTombstones")
	}
	if p.atLeast(7, 6) {
		list = append(list, "preserveExpiry", "querySystemCollection", "subdoc.ReplicaRead")
	}
	if p.atLeast(8, 0) {
		list = append(list, "subdoc.BinaryXattr", "subdoc.AccessDeleted")
	}
	return list
}

// clusterCapabilities are what a map says that the services of the cluster can do.
func (p *profile) clusterCapabilities() map[string][]string {
	can := map[string][]string{}
	if p.atLeast(6, 5) {
		can["n1ql"] = append(can["n1ql"], "enhancedPreparedStatements")
	}
	if p.atLeast(7, 6) {
		can["n1ql"] = append(can["n1ql"], "readFromReplica")
		can["search"] = []string{"scopedSearchIndex", "vectorSearch"}
	}
	return can
}
