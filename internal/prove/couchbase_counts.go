package prove

// classifyCouchbase counts the flaw of an operation. An error that says that the outcome is unknown is honest, so such an operation is
// ambiguous, whether it was applied or not. A write that was acknowledged and then lost with its node was reported truly.
func classifyCouchbase(c *Counts, o fate) (flaw Flaw) {
	ever := o.applied + o.lost
	if o.claim == Unknown {
		c.Ambiguous++
	}
	if o.claim == Applied && ever == 0 || o.claim == NotApplied && ever > 0 {
		c.Misreported++
		flaw = FlawMisreported
	}
	switch {
	case ever == 0 && (o.claim == Applied || o.claim == NotApplied && !o.permanent):
		c.Missing++
		flaw = FlawMissing
	case o.err == nil && o.applied == 0:
		c.Lost++
		flaw = FlawLost
		if o.durable {
			c.DurableLost++
			flaw = FlawDurableLost
		}
	case o.applied > 1:
		c.Extra++
		flaw = FlawExtra
	}
	return flaw
}
