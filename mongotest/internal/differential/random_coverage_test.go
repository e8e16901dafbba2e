package differential

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// coverage counts the operators in the commands that were compared.
type coverage struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *coverage) add(s statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range s.names {
		c.counts[name]++
	}
}

// rarest returns the names of supported, the least often first.
func (c *coverage) rarest(supported []string) []string {
	return slices.SortedStableFunc(slices.Values(supported), func(a, b string) int { return c.counts[a] - c.counts[b] })
}

// rows are the rows of the README's table of the language, whose operators are in the grammar's files of these names.
var rows = map[string]string{
	"filter": "filters", "update": "updates", "projection": "projections", "stages": "stages", "expressions": "expressions",
	"accumulators": "accumulators",
}

// scripts are not in the grammar: the real server compared with has no JavaScript.
var scripts = map[string]bool{"$function": true, "$accumulator": true}

// supported returns the operators that the README calls supported, by the names that they have in a coverage, and the commands
// of the grammar.
func supported(t testing.TB, g grammar) []string {
	t.Helper()
	var names []string
	for row, operators := range documented(t) {
		for _, operator := range operators {
			if rows[row] != "" && !aboutServer[operator] && !scripts[operator] && (operator != "$setWindowFields" || row == "stages") {
				names = append(names, place(rows[row], operator))
			}
		}
	}
	if len(names) < 250 {
		t.Fatalf("the README lists only %d operators", len(names))
	}
	seen := make(map[string]bool)
	for _, s := range g {
		for _, a := range s.alternatives {
			for _, name := range a.names {
				if strings.HasPrefix(name, "commands ") && !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// place returns the name of an operator in a coverage; some stages are written where the commands are.
func place(file, operator string) string {
	switch operator {
	case "$documents", "$out", "$merge":
		return "commands" + operator
	case "$near", "$nearSphere", "$geoNear", "$text", "$meta":
		return "searches" + operator
	}
	return file + operator
}
