package prove

import "time"

// Counts has the numbers of operations of one cell.
type Counts struct {
	Operations   int `json:"operations"`
	Acknowledged int `json:"acknowledged"`
	Errored      int `json:"errored"` // with an error for the application

	// AcknowledgedApplied and ErroredApplied divide them by how often they were applied: 0 times, once, twice or
	// more.
	AcknowledgedApplied [3]int `json:"acknowledged_applied_0_1_2"`
	ErroredApplied      [3]int `json:"errored_applied_0_1_2"`

	// Missing operations were acknowledged and not applied, or errored and not applied although their only fault was
	// transient.
	Missing int `json:"missing"`
	// Extra operations were applied twice or more.
	Extra int `json:"extra"`
	// Misreported operations are those for which the client's claim "applied" or "not applied" was wrong.
	Misreported int `json:"misreported"`
	// FailedButApplied operations errored and were applied once: the count is right, but the report is wrong.
	FailedButApplied int `json:"failed_but_applied"`

	// InOutage operations failed during the outage.
	InOutage int `json:"in_outage"`

	// Messages is the number of messages that the servers got. MostMessages is the largest number for one operation.
	Messages     int `json:"messages"`
	MostMessages int `json:"most_messages_of_one_operation"`
	// Overdone operations had more attempts than the rule allows, in an outage or after a command error.
	Overdone int `json:"overdone"`
	// WastedSeconds is the time that all operations spent after the last attempt that the rule allows.
	WastedSeconds float64 `json:"wasted_seconds"`
}

// count fills the result from the records and the book.
func (c *cell) count(result *Result, records []record, b book) {
	for _, r := range records {
		if result.Counts.add(r, b.applied[r.id], c.permanent(r)) {
			result.remember(r, b.applied[r.id])
		}
		c.attempts(&result.Counts, r)
	}
	c.countHits(result, b)
}

// countHits counts the faults that happened. An outage happens once; the operations that failed in it are its hits.
func (c *cell) countHits(result *Result, b book) {
	byMessage := b.messages()
	for _, h := range c.injector.hits {
		hits := result.Hits[h.kind]
		times := 1
		if h.kind == Outage {
			times = result.Counts.InOutage
		}
		for range times {
			hits.add(h.late(), !b.known || h.confirmed(byMessage, c.settings.W == One))
		}
		result.Hits[h.kind] = hits
	}
}

// permanent reports whether the operation had a permanent fault: an outage or a command error.
func (c *cell) permanent(r record) bool { return r.outage || c.injector.refused[r.id] != nil }

// add counts one operation. It reports whether the operation is missing, extra or misreported.
func (c *Counts) add(r record, applied int, permanent bool) (wrong bool) {
	before := c.Missing + c.Extra + c.Misreported
	c.Operations++
	row := &c.ErroredApplied
	if r.err == nil {
		row = &c.AcknowledgedApplied
		c.Acknowledged++
	} else {
		c.Errored++
	}
	row[min(applied, 2)]++
	switch {
	case applied == 0 && (r.err == nil || !permanent):
		c.Missing++
	case applied > 1:
		c.Extra++
	}
	if r.err != nil && r.outage {
		c.InOutage++
	}
	if r.err != nil && applied > 0 {
		c.FailedButApplied++
	}
	if r.claim == Applied && applied == 0 || r.claim == NotApplied && applied > 0 {
		c.Misreported++
	}
	return c.Missing+c.Extra+c.Misreported > before
}

// attempts compares the number of attempts with the rule: two in an outage, one after a command error.
func (c *cell) attempts(counts *Counts, r record) {
	total, overdone := 0, false
	for _, step := range []Step{FirstStep, SecondStep} {
		messages := c.injector.seen[part{r.id, step}]
		total += messages
		allowed := c.allowed(r, step)
		if allowed == 0 {
			continue
		}
		tries, settled := triesOf(r, step, allowed)
		if tries > allowed || messages > allowed {
			overdone = true
		}
		if tries > allowed {
			counts.WastedSeconds += r.ended.Sub(settled).Seconds()
		}
	}
	counts.Messages += total
	counts.MostMessages = max(counts.MostMessages, total)
	if overdone {
		counts.Overdone++
	}
}

// allowed returns the number of attempts of a step that the rule allows, 0 if the rule does not apply.
func (c *cell) allowed(r record, step Step) int {
	h := c.injector.refused[r.id]
	switch {
	case h != nil && h.step == step:
		return 1
	case r.outage && r.err != nil:
		return 2
	default:
		return 0
	}
}

// triesOf returns the number of tries of a step, and the end of the last one that is allowed.
func triesOf(r record, step Step, allowed int) (tries int, settled time.Time) {
	for _, t := range r.tries {
		if t.step != step {
			continue
		}
		tries++
		if tries == allowed {
			settled = t.ended
		}
	}
	return tries, settled
}
