package prove

// expect returns the expectation for a cell.
func (b *Backend) expect(s Strategy, f Failure, w string) Expectation {
	var e Expectation
	table := b.expected
	if f.before {
		table = b.expectedBefore
	}
	for _, kind := range f.faults {
		k := table[s.Name][kind]
		if w == One {
			k = withOne(s, kind, k)
		}
		e.Must |= k.Must
		e.May |= k.May
	}
	if w == One && len(f.faults) > 1 {
		// Both applications of an operation may be rolled back later.
		e.Must, e.May = e.Must&^OverCounts, e.May|e.Must&OverCounts
	}
	e.May &^= e.Must
	return e
}

// withOne returns the expectation with write concern 1. A write that only the failed primary had is lost, even if it
// was acknowledged; the first of two applications may be lost too. A step-down loses no write, but some of its late
// faults have no effect, because the operation is acknowledged as soon as it is applied.
func withOne(s Strategy, kind FaultKind, e Expectation) Expectation {
	if !kind.breaksCluster() {
		return e
	}
	e.May |= e.Must & OverCounts
	e.Must &^= OverCounts
	if kind == SteppedDown {
		return e
	}
	e.Must |= UnderCounts
	if s.twoSteps {
		// Half of its commands do not change the counter, so there may be nothing to lose.
		e.Must, e.May = e.Must&^UnderCounts, e.May|UnderCounts
	}
	return e
}
