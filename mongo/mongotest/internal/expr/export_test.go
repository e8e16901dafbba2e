package expr

import (
	"maps"
	"slices"
)

// Operators lists the names of all operators that are supported.
func Operators() []string {
	return slices.Sorted(maps.Keys(operators))
}

// Accumulators lists the names of all accumulators.
func Accumulators() []string {
	names := []string{"$count", "$top", "$bottom", "$topN", "$bottomN", "$firstN", "$lastN", "$minN", "$maxN", "$median", "$percentile"}
	return slices.AppendSeq(names, maps.Keys(accumulators))
}

// Unsupported lists the names of the operators that are refused.
func Unsupported() []string { return slices.Sorted(maps.Keys(unsupported)) }
