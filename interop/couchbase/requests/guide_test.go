package requests

import (
	"maps"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/guide"
)

func TestTheGuideHasEachDifference(t *testing.T) {
	reasons := slices.Collect(maps.Values(differences))
	reasons = slices.AppendSeq(reasons, maps.Values(headerDifferences))
	for _, d := range errorDifferences {
		reasons = append(reasons, d.reason)
	}
	guide.Check(t, "COUCHBASE.md", reasons)
}
