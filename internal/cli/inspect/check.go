package inspect

import (
	"fmt"
	"slices"
)

// Report is the result of a check. Its JSON form is stable: fields may be added.
type Report struct {
	Deployment string        `json:"deployment"` // in words
	Findings   []Finding     `json:"findings"`
	Counts     map[Level]int `json:"counts"` // of each level
}

// Failed reports whether there is a warning or a problem.
func (r *Report) Failed() bool { return r.Counts[Warning]+r.Counts[Problem] > 0 }

// Check judges the facts of a survey.
func Check(f *Facts) *Report {
	c := &judge{facts: f}
	for _, check := range []func(){
		c.deployment, c.reachability, c.sets, c.writeConcern, c.journal, c.retries, c.timeouts, c.versions, c.clocks, c.certificates,
	} {
		check()
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return place(a.ID) - place(b.ID) })
	r := &Report{Deployment: topologyText(f.View), Findings: c.findings, Counts: map[Level]int{OK: 0, Note: 0, Warning: 0, Problem: 0}}
	for _, finding := range r.Findings {
		r.Counts[finding.Level]++
	}
	return r
}

func place(id string) int {
	return slices.IndexFunc(Definitions, func(d Definition) bool { return d.ID == id })
}

// judge collects the findings.
type judge struct {
	facts    *Facts
	findings []Finding
}

// add adds a finding about a subject, "" for the whole.
func (c *judge) add(id string, level Level, subject, fact string, args ...any) {
	f := Finding{ID: id, Level: level, Subject: subject, Fact: fmt.Sprintf(fact, args...)}
	if d := definitionOf(id); level != OK {
		f.Cost, f.Mend = d.Cost, d.Mend
	}
	c.findings = append(c.findings, f)
}

// notChecked adds the reason why a check was not possible.
func (c *judge) notChecked(id, subject string, err error) {
	c.add(id, Note, subject, "not checked: %s", oneLine(err))
}

func levelIf(bad bool, level Level) Level {
	if bad {
		return level
	}
	return OK
}

// counted returns a number and a noun, in the plural unless the number is 1.
func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "mongos":
		return fmt.Sprintf("%d mongos", n)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
