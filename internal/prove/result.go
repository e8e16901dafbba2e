package prove

import "time"

// Result is what one cell has shown.
type Result struct {
	Strategy string `json:"strategy"`
	Failure  string `json:"failure"`

	// Unavailable says why the deployment cannot have this cell; then there is nothing else.
	Unavailable string `json:"unavailable,omitempty"`
	// Without are the faults of the failure that the deployment cannot have.
	Without []FaultKind `json:"without,omitempty"`
	// Error is why the cell could not be run to its end, or contradicts itself; then there is no verdict.
	Error string `json:"error,omitempty"`
	// Interrupted: the user ended it before its end.
	Interrupted bool `json:"interrupted,omitempty"`

	Hits   map[FaultKind]Hits `json:"hits"`
	Counts Counts             `json:"counts"`

	// Examples are some of the operations that were missing, extra or misreported.
	Examples []Example `json:"examples,omitempty"`

	Verdict  Verdict     `json:"verdict"`
	Expected Expectation `json:"expected"`
	// NotShown says what there is too little of for the verdict to mean something.
	NotShown string  `json:"not_shown,omitempty"`
	Seconds  float64 `json:"seconds"`
	// Repeats is how often the cell was run before, when the machine stood still, and StalledSeconds for how long it did in
	// this run.
	Repeats        int     `json:"repeats,omitempty"`
	StalledSeconds float64 `json:"stalled_seconds,omitempty"`
}

// blank returns the cell's result before it is run.
func (c *cell) blank() Result {
	return Result{
		Strategy: c.strategy.Name, Failure: c.failure.Name,
		Hits: make(map[FaultKind]Hits), Expected: expect(c.strategy, c.failure, c.settings.W),
	}
}

// AsExpected reports whether the cell has shown what it was expected to show, or cannot be had at all.
func (r *Result) AsExpected() bool {
	if r.Unavailable != "" {
		return true
	}
	return r.Error == "" && !r.Interrupted && r.NotShown == "" && r.Expected.met(r.Verdict)
}

// verified returns how many verified hits there are of all kinds.
func (r *Result) verified() int {
	n := 0
	for _, h := range r.Hits {
		n += h.Verified
	}
	return n
}

// Example is one operation that went wrong, as its application saw it.
type Example struct {
	Operation string       `json:"operation"`
	Applied   int          `json:"applied"`
	Tries     []ExampleTry `json:"tries"`
	Began     time.Time    `json:"began"`
}

// ExampleTry is one call of the client.
type ExampleTry struct {
	Step    Step    `json:"step"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// maxExamples is how many operations that went wrong a result keeps of each sort: not applied, once, more often.
const maxExamples = 5

func (r *Result) remember(o record, applied int) {
	same := 0
	for _, e := range r.Examples {
		if min(e.Applied, 2) == min(applied, 2) {
			same++
		}
	}
	if same == maxExamples {
		return
	}
	e := Example{Operation: o.id.String(), Applied: applied, Began: o.began}
	for _, t := range o.tries {
		one := ExampleTry{Step: t.step, Seconds: t.ended.Sub(t.began).Seconds()}
		if t.err != nil {
			one.Error = t.err.Error()
		}
		e.Tries = append(e.Tries, one)
	}
	r.Examples = append(r.Examples, e)
}
