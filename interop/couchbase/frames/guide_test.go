package frames

import (
	"maps"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/guide"
)

func TestTheGuideHasEachDifference(t *testing.T) {
	guide.Check(t, "COUCHBASE.md", slices.AppendSeq(slices.Collect(maps.Values(differences)), maps.Values(featureDifferences)))
}
