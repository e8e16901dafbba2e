package pipeline

import (
	"os"
	"strings"
	"testing"
)

// nullCases are the recorded cases in which a real server gets an option that is null.
const nullCases = "../differential/testdata/cases/stages/null_fields.txt"

// TestEachOptionHasACaseWithNull checks that the recorded cases have each option that is known here as null.
func TestEachOptionHasACaseWithNull(t *testing.T) {
	text, err := os.ReadFile(nullCases)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for stage, options := range map[string][]option{
		"$densify": append(densifyOptions, rangeOptions...), "$fill": fillOptions, "$lookup": lookupOptions, "$collStats": collStatsOptions,
		"$setWindowFields": windowOptions, "$out": append(outOptions, timeseriesOptions...), "$merge": append(mergeOptions, intoOptions...),
		"$unionWith": unionWithOptions,
	} {
		for _, o := range options {
			has := false
			for _, line := range lines {
				has = has || strings.Contains(line, `"`+stage+`"`) && strings.Contains(line, `"`+o.name+`": null`)
			}
			if !has {
				t.Errorf("%s has no case in which %s of %s is null", nullCases, o.name, stage)
			}
		}
	}
}
