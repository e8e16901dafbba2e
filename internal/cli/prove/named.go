package prove

import (
	"fmt"
	"strings"
)

func namesOf[T any](all []T, nameOf func(T) string) []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = nameOf(t)
	}
	return names
}

// named returns the elements of a list with these names, in the list's order. An unknown name is an error that lists
// the known names.
func named[T any](what string, all []T, names []string, nameOf func(T) string) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	var picked []T
	for _, t := range all {
		if wanted[nameOf(t)] {
			picked = append(picked, t)
			delete(wanted, nameOf(t))
		}
	}
	for _, n := range names {
		if wanted[n] {
			return nil, fmt.Errorf("unknown %s %q; known are: %s", what, n, strings.Join(namesOf(all, nameOf), ", "))
		}
	}
	return picked, nil
}
