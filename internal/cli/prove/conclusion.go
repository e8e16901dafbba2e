package prove

import (
	"fmt"
	"strings"
)

// Conclusion returns a sentence with the strategies that were right, and the others with their verdicts.
func (r *Report) Conclusion() string {
	var right, wrong []string
	for i, s := range r.Strategies {
		switch v, shown := r.verdictOf(i); {
		case !shown:
		case v == Right:
			right = append(right, s.Title)
		case v.IsRight():
			right = append(right, fmt.Sprintf("%s (%s)", s.Title, v))
		default:
			wrong = append(wrong, fmt.Sprintf("%s (%s)", s.Title, v))
		}
	}
	var parts []string
	if len(right) > 0 {
		parts = append(parts, "right: "+strings.Join(right, ", "))
	}
	if len(wrong) > 0 {
		parts = append(parts, "wrong: "+strings.Join(wrong, ", "))
	}
	parts = append(parts, r.tally())
	sentence := strings.Join(parts, "; ")
	return strings.ToUpper(sentence[:1]) + sentence[1:] + "."
}

// verdictOf returns the union of a strategy's verdicts, without those of failures that have a write concern of their own, or that are done
// before a router.
// shown is false if there is none.
func (r *Report) verdictOf(strategy int) (v Verdict, shown bool) {
	for f, failure := range r.Failures {
		if c := r.at(strategy, f); failure.W == "" && !failure.before && c.shown() {
			v |= c.Verdict
			shown = true
		}
	}
	return v, shown
}

func (r *Report) tally() string {
	unavailable := 0
	for i := range r.Results {
		if r.Results[i].Unavailable != "" {
			unavailable++
		}
	}
	cells := len(r.Results) - unavailable
	disturbed := len(r.Disturbed())
	text := fmt.Sprintf("%d of %d cells as expected", cells-len(r.Unexpected())-disturbed, cells)
	if disturbed > 0 {
		text += fmt.Sprintf(", %d without a verdict because the machine was busy", disturbed)
	}
	if unavailable > 0 {
		text += fmt.Sprintf(", %d not available here", unavailable)
	}
	if r.Interrupted {
		text += ", interrupted"
	}
	return text
}
