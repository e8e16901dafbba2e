package expr

import (
	"maps"
	"slices"
)

// Unsupported lists the names of the operators that are refused.
func Unsupported() []string { return slices.Sorted(maps.Keys(unsupported)) }
