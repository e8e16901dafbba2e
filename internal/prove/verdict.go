package prove

import (
	"fmt"
	"strings"
)

// Verdict is a set of what is wrong with a strategy in a cell. The empty set is "right".
type Verdict uint8

// What can be wrong.
const (
	UnderCounts Verdict = 1 << iota // operations are missing
	OverCounts                      // operations were applied twice or more
	WastesTime                      // more attempts than the rule allows in an outage or on a command error
	Misreports                      // the client said "not applied" and was wrong

	Right Verdict = 0
)

var verdictNames = [...]struct {
	v    Verdict
	name string
}{
	{UnderCounts, "under-counts"}, {OverCounts, "over-counts"}, {WastesTime, "wastes time"}, {Misreports, "misreports"},
}

// Words returns what is wrong, one by one, or "right".
func (v Verdict) Words() []string {
	if v == Right {
		return []string{"right"}
	}
	var words []string
	for _, n := range verdictNames {
		if v&n.v != 0 {
			words = append(words, n.name)
		}
	}
	return words
}

// String returns the words with commas.
func (v Verdict) String() string { return strings.Join(v.Words(), ", ") }

// MarshalText writes the words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Expectation is what a cell's verdict must hold and what it may hold besides.
type Expectation struct {
	Must Verdict `json:"must"`
	May  Verdict `json:"may"`
}

// met reports whether a verdict is as expected.
func (e Expectation) met(v Verdict) bool { return v&e.Must == e.Must && v&^(e.Must|e.May) == 0 }

// String returns what must be, and in brackets what may be.
func (e Expectation) String() string {
	if e.May == Right {
		return e.Must.String()
	}
	return fmt.Sprintf("%s (may: %s)", e.Must, e.May)
}

// judge draws the conclusions from the counts.
func (c *cell) judge(r *Result) {
	r.NotShown = c.notShown(r)
	if r.Counts.Missing > 0 {
		r.Verdict |= UnderCounts
	}
	if r.Counts.Extra > 0 {
		r.Verdict |= OverCounts
	}
	if r.Counts.Overdone > 0 {
		r.Verdict |= WastesTime
	}
	if r.Counts.Misreported > r.Counts.AcknowledgedApplied[0] { // those are missing anyway
		r.Verdict |= Misreports
	}
}

// notShown says what a cell has too little of; "" if it has enough to mean something.
func (c *cell) notShown(r *Result) string {
	size := c.settings.Size
	if r.Counts.Acknowledged < size.Operations {
		return fmt.Sprintf("%d of %d operations acknowledged", r.Counts.Acknowledged, size.Operations)
	}
	for _, kind := range c.failure.faults {
		if h, goal := r.Hits[kind], size.goal(c.failure, kind); !h.enough(kind, goal) {
			return fmt.Sprintf("%s: %d of %d faults verified", kind, h.Verified, goal)
		}
	}
	return ""
}
