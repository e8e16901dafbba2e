package retry

// An [Error] keeps at most this many attempts whole: the first ones and the last ones. The text of an error stays readable and
// its memory small, however long the operation was retried.
const (
	keptFirst = 4
	keptLast  = 4
	kept      = keptFirst + keptLast
)

// countedPairs is the number of pairs of reason and endpoint that are counted apart among the attempts that are not kept.
const countedPairs = 8

// Omitted counts attempts that an [Error] does not keep whole.
type Omitted struct {
	// Reason and Endpoint are those of the attempts. They are [ReasonUnknown] and empty for all further pairs together, if the
	// attempts had more than 8 different pairs. (An attempt that is followed by another one never has ReasonUnknown.)
	Reason   Reason
	Endpoint string
	Count    int
}

// history holds the failed attempts of an operation under way, without the latest.
type history struct {
	err     *Error  // nil before the second failure
	retries int     // since the latest attempt that made progress
	reasons Reasons // likewise
}

func (h *history) add(f *Failure, d decision) {
	h.retries++
	h.reasons.add(f.Reason)
	if h.err == nil {
		h.err = new(Error)
	}
	h.err.add(f, d)
}

// end adds the failure with which the operation ends. It is no attempt if the first failure says so.
func (h *history) end(f *Failure, d decision) {
	if f.NoAttempt && h.err == nil {
		h.err = &Error{none: d.record(f)}
		return
	}
	h.add(f, d)
}

func (d decision) record(f *Failure) Record {
	return Record{Failure: *f, Delay: d.delay, StopReason: d.stop, StrategyErr: d.err}
}

// add adds an attempt to the error of an operation under way.
func (e *Error) add(f *Failure, d decision) {
	e.Total++
	e.applied = e.applied || f.mayHaveApplied()
	if f.Reason != ReasonCircuitBreakerOpen {
		e.made = f.Err
	}
	r := d.record(f)
	if len(e.Attempts) < kept {
		e.Attempts = append(e.Attempts, r)
		return
	}
	last := e.Attempts[keptFirst:]
	e.omit(&last[0])
	copy(last, last[1:])
	last[keptLast-1] = r
}

// omit counts an attempt that is not kept.
func (e *Error) omit(r *Record) {
	for i := range e.Omitted {
		if o := &e.Omitted[i]; o.Reason == r.Reason && o.Endpoint == r.Endpoint {
			o.Count++
			return
		}
	}
	switch len(e.Omitted) {
	case countedPairs + 1:
		e.Omitted[countedPairs].Count++
	case countedPairs:
		e.Omitted = append(e.Omitted, Omitted{Count: 1})
	default:
		e.Omitted = append(e.Omitted, Omitted{Reason: r.Reason, Endpoint: r.Endpoint, Count: 1})
	}
}

// progressed counts the retries and the reasons from zero again.
func (h *history) progressed() { h.retries, h.reasons = 0, Reasons{} }
