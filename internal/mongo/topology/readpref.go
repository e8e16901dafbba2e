package topology

import (
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// appendMembers appends the suitable members of a replica set: Server Selection, "Topology types:
// ReplicaSetWithPrimary or ReplicaSetNoPrimary".
func appendMembers(dst []*Server, d *Description, s *Selection, excluded []string) []*Server {
	n := len(dst)
	switch s.mode() {
	case readpref.PrimaryMode:
		return appendKind(dst, d, RSPrimary, excluded)
	case readpref.PrimaryPreferredMode:
		if dst = appendKind(dst, d, RSPrimary, excluded); len(dst) > n {
			return dst
		}
		return appendSecondaries(dst, d, s, excluded)
	case readpref.SecondaryMode:
		return appendSecondaries(dst, d, s, excluded)
	case readpref.SecondaryPreferredMode:
		if dst = appendSecondaries(dst, d, s, excluded); len(dst) > n {
			return dst
		}
		return appendKind(dst, d, RSPrimary, excluded)
	case readpref.NearestMode:
		dst = appendKind(dst, d, RSPrimary, excluded)
		dst = appendKind(dst, d, RSSecondary, excluded)
		return dst[:n+len(eligible(dst[n:], d, s))]
	}
	return dst
}

func appendSecondaries(dst []*Server, d *Description, s *Selection, excluded []string) []*Server {
	n := len(dst)
	dst = appendKind(dst, d, RSSecondary, excluded)
	return dst[:n+len(eligible(dst[n:], d, s))]
}

// eligible keeps, in place, the candidates that are not too stale and match the tag sets. The stale ones are removed
// first, so that a tag set which only stale members match is skipped.
func eligible(candidates []*Server, d *Description, s *Selection) []*Server {
	return matchingTags(freshEnough(candidates, d, s), s.ReadPref.TagSets())
}

// matchingTags applies the first tag set that any candidate matches: Server Selection, "tag_sets".
func matchingTags(candidates []*Server, sets []tag.Set) []*Server {
	if len(sets) == 0 {
		return candidates
	}
	for _, set := range sets {
		n := 0
		for i, s := range candidates {
			if s.Tags.ContainsAll(set) {
				candidates[n], candidates[i] = s, candidates[n]
				n++
			}
		}
		if n > 0 {
			return candidates[:n]
		}
	}
	return candidates[:0]
}
