package prove

import "slices"

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
	// that can know better they are also those that were applied and errored, except after a permanent fault.
	Misreported int `json:"misreported"`
	// FailedButApplied operations errored and were applied once: the count is right, but the report is wrong.
	FailedButApplied int `json:"failed_but_applied"`

	// Ambiguous operations ended with an error that says, in Couchbase's experiment, that they may have been applied or not.
	Ambiguous int `json:"ambiguous,omitempty"`
	// Lost operations were applied and acknowledged, and a failover has undone that. DurableLost operations are those of them that
	// were acknowledged with majority durability.
	Lost        int `json:"acknowledged_lost,omitempty"`
	DurableLost int `json:"durable_lost,omitempty"`

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

// count fills the result from the records and the book. It returns an error if a story differs from the book.
func (c *cell) count(result *Result, records []record, b book) (err error) {
	messages := b.messages()
	for _, r := range records {
		o := fate{record: r, applied: b.applied[r.id], lost: b.lost[r.id], permanent: c.permanent(r), learns: c.strategy.learns()}
		result.Counts.add(o)
		c.remember(result, c.backend.classify(&result.Counts, o), r, o.applied)
		c.countMessages(&result.Counts, r)
		if c.backend.wasteRule {
			c.remember(result, c.waste(&result.Counts, r, messages), r, o.applied)
		}
	}
	c.countHits(result, b.known, messages)
	result.Stories, err = c.stories(result, records, &b, messages)
	return err
}

// countHits counts the faults that happened. An outage happens once; the operations that failed in it are its hits.
func (c *cell) countHits(result *Result, known bool, journal map[messageID]entry) {
	for _, h := range c.injector.hits {
		hits := result.Hits[h.kind]
		times := 1
		if h.kind == Outage {
			times = result.Counts.InOutage
		}
		for range times {
			hits.add(&h.planned, !known || h.confirmed(journal, c.settings.W == One))
		}
		result.Hits[h.kind] = hits
	}
}

// permanent reports whether the operation had a permanent fault: an outage, a command error, or a black hole, which is longer than an
// operation's timeout.
func (c *cell) permanent(r record) bool {
	return r.outage || c.injector.refused[r.id] != nil || slices.ContainsFunc(c.injector.hits, func(h *hit) bool {
		return h.kind == BlackHoled && r.ended.After(h.at) && r.began.Before(h.at.Add(c.settings.Timing.BlackHole))
	})
}

// fate is an operation that has ended, with the servers' view of it.
type fate struct {
	record
	applied int // how often it is applied at the end
	lost    int // how often it was applied on a node that was lost with it
	// permanent means that it had a permanent fault.
	permanent bool
	// learns means that the strategy can know whether it was applied.
	learns bool
}

// add counts one operation, except its flaw and its attempts.
func (c *Counts) add(o fate) {
	c.Operations++
	row := &c.ErroredApplied
	if o.err == nil {
		row = &c.AcknowledgedApplied
		c.Acknowledged++
	} else {
		c.Errored++
	}
	row[min(o.applied, 2)]++
	if o.err != nil && o.outage {
		c.InOutage++
	}
	if o.err != nil && o.applied > 0 {
		c.FailedButApplied++
	}
}

// countMessages counts the messages of one operation.
func (c *cell) countMessages(counts *Counts, r record) {
	total := 0
	for _, step := range []Step{FirstStep, SecondStep} {
		total += len(c.injector.seen[part{r.id, step}])
	}
	counts.Messages += total
	counts.MostMessages = max(counts.MostMessages, total)
}
