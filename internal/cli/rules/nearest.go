package rules

import (
	"fmt"
	"strings"
)

// unknownName is the error of a name that is not known. It gives the known name that is nearest to it.
func unknownName(what, name string, known []string) error {
	best, distance := "", len(name)
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < distance || best == "" {
			best, distance = k, d
		}
	}
	return fmt.Errorf("unknown %s %q; the nearest known one is %q", what, name, best)
}

// editDistance returns how many characters must be inserted, deleted or replaced to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
