package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pair has the figures of the earlier commit and those of this tree, from two runs that followed each other.
type pair [2]map[string]float64

// figuresIn returns the figures that a test printed.
func figuresIn(output string) map[string]float64 {
	figures := make(map[string]float64)
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "figure" {
			continue
		}
		if value, err := strconv.ParseFloat(fields[2], 64); err == nil {
			figures[fields[1]] = value
		}
	}
	return figures
}

// report returns a line for each figure that all runs have, in the order of their names, and the worst growth of those that count.
func (m *measurement) report(pairs []pair) []string {
	var lines []string
	counts, worst := regexp.MustCompile(m.of), math.Inf(-1)
	for _, name := range namesIn(pairs) {
		var growth, before, now []float64
		for _, p := range pairs {
			before, now = append(before, p[0][name]), append(now, p[1][name])
			growth = append(growth, 100*(p[1][name]/p[0][name]-1))
		}
		percent := median(growth)
		if counts.MatchString(name) {
			worst = max(worst, percent)
		}
		lines = append(lines, fmt.Sprintf("%s: before %.1f, now %.1f, %+.2f %%", name, median(before), median(now), percent))
	}
	if math.IsInf(worst, -1) {
		return append(lines, "no figure was measured that counts")
	}
	return append(lines, fmt.Sprintf("figure %s %.2f", m.figure, worst))
}

// namesIn returns the names of the figures that are in all runs, and are not zero before.
func namesIn(pairs []pair) []string {
	var names []string
	for name := range pairs[0][0] {
		everywhere := !slices.ContainsFunc(pairs, func(p pair) bool {
			_, now := p[1][name]
			return p[0][name] == 0 || !now
		})
		if everywhere {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
