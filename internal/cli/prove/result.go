package prove

import "time"

// Result is the result of one cell.
type Result struct {
	Strategy string `json:"strategy"`
	Failure  string `json:"failure"`
	W        string `json:"w,omitempty"` // MongoDB's write concern

	// Unavailable, if not empty, is the reason why this cell cannot run on the deployment. The fields below are empty
	// then.
	Unavailable string `json:"unavailable,omitempty"`
	// Without are the faults of the failure that cannot be injected in the deployment.
	Without []FaultKind `json:"without,omitempty"`
	// Error, if not empty, is the reason why the cell did not end, or the failed comparison of the audit. There is no
	// verdict then.
	Error string `json:"error,omitempty"`
	// Interrupted means that the user ended the run before the cell's end.
	Interrupted bool `json:"interrupted,omitempty"`

	Hits   map[FaultKind]Hits `json:"hits"`
	Counts Counts             `json:"counts"`

	// Examples are some of the operations that have a flaw.
	Examples []Example `json:"examples,omitempty"`
	// Stories tell the first example of each flaw or, if there is none, an operation that met a fault and came out right.
	Stories []Story `json:"-"`

	Verdict  Verdict     `json:"verdict"`
	Expected Expectation `json:"expected"`
	// NotShown, if not empty, is the number of operations or faults that is too small for a verdict.
	NotShown string  `json:"not_shown,omitempty"`
	Seconds  float64 `json:"seconds"`
	// Busy means that there is no verdict, because other programs kept the machine busy during the cell: a timer fired so late that the result may
	// show the machine and not the strategy. StalledSeconds is how late.
	Busy           bool    `json:"machine_busy,omitempty"`
	StalledSeconds float64 `json:"stalled_seconds,omitempty"`
	// Alone means that the machine disturbed the cell, and that it ran again alone, with longer times.
	Alone bool `json:"alone,omitempty"`
	// Repeats is how often the cell was run again: because the machine was busy, a real server ended, or too few faults struck.
	Repeats int `json:"repeats,omitempty"`

	tolerance   time.Duration // how late a timer may fire
	serverEnded bool          // a real server ended during the run
}

// blank returns the cell's result before the run.
func (c *cell) blank() Result {
	return Result{
		Strategy: c.strategy.Name, Failure: c.failure.Name, W: c.settings.W,
		Hits: make(map[FaultKind]Hits), Expected: c.backend.expect(c.strategy, c.failure, c.settings.W),
	}
}

// AsExpected reports whether the verdict of the cell is as expected, or the cell is unavailable.
func (r *Result) AsExpected() bool {
	if r.Unavailable != "" {
		return true
	}
	return r.shown() && r.Expected.met(r.Verdict)
}

// shown reports whether the cell has a verdict.
func (r *Result) shown() bool {
	return r.Unavailable == "" && r.Error == "" && !r.Interrupted && r.NotShown == "" && !r.Busy
}

// disturb notes how late the timers fired during the cell. If that is more than the cell tolerates, it has no verdict.
func (r *Result) disturb(late, tolerance time.Duration) {
	r.tolerance = tolerance
	if r.Unavailable == "" && !r.Interrupted && late > tolerance {
		r.Busy, r.StalledSeconds = true, late.Seconds()
	}
}

// verified returns the number of verified hits of all kinds.
func (r *Result) verified() int {
	n := 0
	for _, h := range r.Hits {
		n += h.Verified
	}
	return n
}

// Flaw says what is wrong with an operation, or that its outcome is unknown. It is "" if nothing is.
type Flaw string

// The flaws. An operation that is missing or extra is not called misreported too.
const (
	FlawMissing     Flaw = "missing"
	FlawExtra       Flaw = "extra"
	FlawMisreported Flaw = "misreported"
	FlawWasteful    Flaw = "wasteful" // see Counts.Overdone
	FlawLost        Flaw = "lost"     // see Counts.Lost
	FlawDurableLost Flaw = "durable lost"
	FlawAmbiguous   Flaw = "ambiguous" // see Counts.Ambiguous
)

// Example is one operation that has a flaw, with its tries.
type Example struct {
	Operation string       `json:"operation"`
	Flaw      Flaw         `json:"flaw"`
	Applied   int          `json:"applied"`
	Tries     []ExampleTry `json:"tries"`
	Messages  int          `json:"messages"` // that the servers got
	Began     time.Time    `json:"began"`
}

// ExampleTry is one call of the client.
type ExampleTry struct {
	Step    Step    `json:"step"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// maxExamples is the largest number of examples of each flaw.
const maxExamples = 5

// remember adds an operation to the examples of its flaw.
func (c *cell) remember(result *Result, flaw Flaw, r record, applied int) {
	same := 0
	for _, e := range result.Examples {
		if e.Flaw == flaw {
			same++
		}
	}
	if flaw == "" || same == maxExamples {
		return
	}
	e := Example{Operation: r.id.String(), Flaw: flaw, Applied: applied, Began: r.began}
	for _, step := range []Step{FirstStep, SecondStep} {
		e.Messages += len(c.injector.seen[part{r.id, step}])
	}
	for _, t := range r.tries {
		one := ExampleTry{Step: t.step, Seconds: t.ended.Sub(t.began).Seconds()}
		if t.err != nil {
			one.Error = t.err.Error()
		}
		e.Tries = append(e.Tries, one)
	}
	result.Examples = append(result.Examples, e)
}
