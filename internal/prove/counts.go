package prove

import "github.com/holdfast-db/holdfast/mongo/mongotest"

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
	// Misreported operations are those for which the client's claim "applied" or "not applied" was wrong. With a strategy
	// that can know better they are also those that were applied and errored, except in an outage.
	Misreported int `json:"misreported"`
	// FailedButApplied operations errored and were applied once: the count is right, but the report is wrong.
	FailedButApplied int `json:"failed_but_applied"`

	// InOutage operations failed during the outage.
	InOutage int `json:"in_outage"`

	// Messages is the number of messages that the servers got. MostMessages is the largest number for one operation.
	Messages     int `json:"messages"`
	MostMessages int `json:"most_messages_of_one_operation"`
	// Overdone operations had more attempts or messages, or took more time, than the rule allows.
	Overdone int `json:"overdone"`
	// WastedSeconds is the time that they spent after the last attempt, or after the time, that the rule allows.
	WastedSeconds float64 `json:"wasted_seconds"`
	// SlowestSeconds is the longest time of an operation that the rule gives no more than the server selection timeout.
	SlowestSeconds float64 `json:"slowest_seconds"`
}

// count fills the result from the records and the book.
func (c *cell) count(result *Result, records []record, b book) {
	messages := b.messages()
	for _, r := range records {
		applied := b.applied[r.id]
		c.remember(result, result.Counts.add(r, applied, c.permanent(r), c.strategy.learns()), r, applied)
		c.remember(result, c.waste(&result.Counts, r, messages), r, applied)
	}
	c.countHits(result, b.known, messages)
}

// countHits counts the faults that happened. An outage happens once; the operations that failed in it are its hits.
func (c *cell) countHits(result *Result, known bool, journal map[messageID]mongotest.Entry) {
	for _, h := range c.injector.hits {
		hits := result.Hits[h.kind]
		times := 1
		if h.kind == Outage {
			times = result.Counts.InOutage
		}
		for range times {
			hits.add(h.late(), !known || c.injector.countsPlanned || h.confirmed(journal, c.settings.W == One))
		}
		result.Hits[h.kind] = hits
	}
}

// permanent reports whether the operation had a permanent fault: an outage or a command error.
func (c *cell) permanent(r record) bool { return r.outage || c.injector.refused[r.id] != nil }

// add counts one operation, except its attempts. learns means that the strategy can know whether the operation was
// applied. It returns the operation's flaw, if it has one.
func (c *Counts) add(r record, applied int, permanent, learns bool) (flaw Flaw) {
	c.Operations++
	row := &c.ErroredApplied
	if r.err == nil {
		row = &c.AcknowledgedApplied
		c.Acknowledged++
	} else {
		c.Errored++
	}
	row[min(applied, 2)]++
	if r.err != nil && r.outage {
		c.InOutage++
	}
	failedButApplied := r.err != nil && applied > 0
	if failedButApplied {
		c.FailedButApplied++
	}
	if r.claim == Applied && applied == 0 || r.claim == NotApplied && applied > 0 || learns && failedButApplied && !r.outage {
		c.Misreported++
		flaw = FlawMisreported
	}
	switch {
	case applied == 0 && (r.err == nil || !permanent):
		c.Missing++
		flaw = FlawMissing
	case applied > 1:
		c.Extra++
		flaw = FlawExtra
	}
	return flaw
}
