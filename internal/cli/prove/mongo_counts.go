package prove

// classifyMongo counts the flaw of an operation. That an error does not say whether the operation was applied is no excuse: if the
// operation is missing, the application's count is wrong. After a permanent fault no strategy can know better: a sweep applies the
// operation later.
func classifyMongo(c *Counts, o fate) (flaw Flaw) {
	failedButApplied := o.err != nil && o.applied > 0
	if o.claim == Applied && o.applied == 0 || o.claim == NotApplied && o.applied > 0 || o.learns && failedButApplied && !o.permanent {
		c.Misreported++
		flaw = FlawMisreported
	}
	switch {
	case o.applied == 0 && (o.err == nil || !o.permanent):
		c.Missing++
		flaw = FlawMissing
	case o.applied > 1:
		c.Extra++
		flaw = FlawExtra
	}
	return flaw
}
