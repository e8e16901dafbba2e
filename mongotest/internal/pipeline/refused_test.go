package pipeline

import (
	"path/filepath"
	"strings"
	"testing"
)

// refused are the stages that this package only names.
var refused = []string{
	"$changeStream", "$changeStreamSplitLargeEvent", "$listCatalog", "$listClusterCatalog",
	"$listSampledQueries", "$listSearchIndexes", "$listSessions", "$queryStats", "$rankFusion", "$score", "$scoreFusion",
	"$search", "$searchMeta", "$setMetadata", "$shardedDataDistribution", "$vectorSearch",
}

// TestRefusedStagesAreNamed checks that the error of a refused stage names it.
func TestRefusedStagesAreNamed(t *testing.T) {
	for _, name := range refused {
		if name == splitEvents {
			continue // it is allowed behind $changeStream
		}
		m := memory{}
		answer := m.ours(t, `[{"`+name+`": {}}]`)
		if len(answer) != 1 || !strings.HasPrefix(answer[0], "error 238 mongotest: the stage "+name) && !strings.HasPrefix(answer[0], "error 31082 ") {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// TestFuzzCorpusIsThere keeps the committed corpus from being lost unnoticed.
func TestFuzzCorpusIsThere(t *testing.T) {
	paths, err := filepath.Glob("testdata/fuzz/FuzzPipeline/*")
	if err != nil || len(paths) < 5 {
		t.Errorf("%d seeds of FuzzPipeline: %v", len(paths), err)
	}
}
