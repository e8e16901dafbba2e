package prove

// classifyCouchbase counts the flaw of an operation. An error that says that the outcome is unknown is honest, so such an operation is
// ambiguous, whether it was applied or not. A write that was acknowledged and then lost with its node was reported truly, unless majority
// durability was asked for.
func classifyCouchbase(c *Counts, o fate) Flaw {
	ever, acknowledged := o.applied+o.lost, o.err == nil
	switch {
	case acknowledged && o.applied == 0 && o.durable:
		c.Lost++
		c.DurableLost++
		return FlawDurableLost
	case acknowledged && ever == 0:
		c.Missing++
		c.Misreported++
		return FlawMissing
	case acknowledged && o.applied == 0:
		c.Lost++
		return FlawLost
	case o.claim == NotApplied && ever > 0:
		c.Misreported++
	case o.claim == NotApplied && !o.permanent:
		c.Missing++
		return FlawMissing
	case o.claim == Unknown:
		c.Ambiguous++
	}
	switch {
	case o.applied > 1:
		c.Extra++
		return FlawExtra
	case o.claim == NotApplied && ever > 0:
		return FlawMisreported
	case o.claim == Unknown:
		return FlawAmbiguous
	}
	return ""
}
