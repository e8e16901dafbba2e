package prove

import (
	"fmt"
	"strings"
)

// Verdict is the set of faults and limits of a strategy in a cell. The empty set is "right".
type Verdict uint8

// The elements of a Verdict.
const (
	UnderCounts Verdict = 1 << iota // operations are missing
	OverCounts                      // operations were applied twice or more
	WastesTime                      // more attempts, messages or time than the rule allows
	Misreports                      // the client's report was wrong, or a strategy that can know better reported a failure

	// Couchbase's. The first two are no faults of a strategy: it says so, or it did not ask for durability.
	Ambiguous    // operations ended with an error that says that they may have been applied
	Loses        // acknowledged operations were lost in a failover
	LosesDurable // acknowledged operations with majority durability were lost

	Right Verdict = 0
)

// IsRight reports whether no element of the verdict is a fault of the strategy.
func (v Verdict) IsRight() bool { return v&^(Ambiguous|Loses) == Right }

var verdictNames = [...]struct {
	v    Verdict
	name string
}{
	{UnderCounts, "under-counts"},
	{OverCounts, "over-counts"},
	{WastesTime, "wastes time"},
	{Misreports, "misreports"},
	{LosesDurable, "loses durable"},
	{Loses, "loses"},
	{Ambiguous, "ambiguous"},
}

// Elements returns the verdict's elements one by one, or Right.
func (v Verdict) Elements() []Verdict {
	if v == Right {
		return []Verdict{Right}
	}
	var list []Verdict
	for _, n := range verdictNames {
		if v&n.v != 0 {
			list = append(list, n.v)
		}
	}
	return list
}

// Words returns the names of the verdict's elements, or "right".
func (v Verdict) Words() []string {
	var words []string
	for _, one := range v.Elements() {
		word := "right"
		for _, n := range verdictNames {
			if one == n.v {
				word = n.name
			}
		}
		words = append(words, word)
	}
	return words
}

// String returns the words, separated by commas.
func (v Verdict) String() string { return strings.Join(v.Words(), ", ") }

// MarshalText returns the words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Expectation has the elements that a cell's verdict must have, and those that it may have too.
type Expectation struct {
	Must Verdict `json:"must"`
	May  Verdict `json:"may"`
}

// met reports whether a verdict is as expected.
func (e Expectation) met(v Verdict) bool { return v&e.Must == e.Must && v&^(e.Must|e.May) == 0 }

// String returns Must, and May in brackets.
func (e Expectation) String() string {
	if e.May == Right {
		return e.Must.String()
	}
	return fmt.Sprintf("%s (may: %s)", e.Must, e.May)
}

// judge sets the verdict from the counts.
func (c *cell) judge(r *Result) {
	r.NotShown = c.notShown(r)
	r.Verdict = r.Counts.verdict()
}

// verdict returns the verdict that the numbers show.
func (n *Counts) verdict() (verdict Verdict) {
	for _, one := range []struct {
		shown bool
		v     Verdict
	}{
		{n.Missing > 0, UnderCounts},
		{n.Extra > 0, OverCounts},
		{n.Overdone > 0, WastesTime},
		{n.Misreported > n.AcknowledgedApplied[0]-n.Lost, Misreports}, // these are missing anyway
		{n.Ambiguous > 0, Ambiguous},
		{n.Lost > n.DurableLost, Loses},
		{n.DurableLost > 0, LosesDurable},
	} {
		if one.shown {
			verdict |= one.v
		}
	}
	return verdict
}

// notShown returns the number that is too small for a verdict, or "".
func (c *cell) notShown(r *Result) string {
	size := c.settings.Size
	if r.Counts.Acknowledged < size.Operations {
		return fmt.Sprintf("%d of %d operations acknowledged", r.Counts.Acknowledged, size.Operations)
	}
	for _, kind := range c.failure.faults {
		if h, goal := r.Hits[kind], size.goal(c.failure, kind); !h.enough(kind, goal) {
			return fmt.Sprintf("%s: %d of %d faults verified, %d early and %d late", kind, h.Verified, goal, h.Early, h.Late)
		}
	}
	return ""
}
