package prove

// expected is what theory says about each strategy and kind of fault; where nothing is listed, "right". It was written
// before the experiment was run.
var expected = map[string]map[FaultKind]Expectation{
	// What was not applied stays so.
	NoRetry: {
		RequestLost:      {Must: UnderCounts},
		SteppedDown:      {Must: UnderCounts},
		PrimaryKilled:    {Must: UnderCounts},
		Partitioned:      {Must: UnderCounts},
		ServerOverloaded: {Must: UnderCounts},
	},
	// What was applied without the answer arriving is applied again.
	FiveBlind: {
		ReplyLost:      {Must: OverCounts},
		SteppedDown:    {Must: OverCounts},
		PrimaryKilled:  {Must: OverCounts},
		Partitioned:    {Must: OverCounts},
		Outage:         {Must: WastesTime},
		CommandRefused: {Must: WastesTime},
	},
	OneRetry: {
		ReplyLost:     {Must: OverCounts},
		SteppedDown:   {Must: OverCounts},
		PrimaryKilled: {Must: OverCounts},
		Partitioned:   {Must: OverCounts},
	},
}

// expect returns what a cell should show.
func expect(s Strategy, f Failure, w string) Expectation {
	var e Expectation
	for _, kind := range f.faults {
		k := expected[s.Name][kind]
		if w == One {
			k = withOne(s, kind, k)
		}
		e.Must |= k.Must
		e.May |= k.May
	}
	if w == One && len(f.faults) > 1 {
		// Both applications of a doubled operation may be lost later.
		e.Must, e.May = e.Must&^OverCounts, e.May|e.Must&OverCounts
	}
	e.May &^= e.Must
	return e
}

// withOne is what write concern 1 changes: what a primary acknowledged before any other member had it is lost with the
// primary, whatever the client does, and so may the first of two applications be. A step-down loses nothing, but some of
// its late faults come to nothing, because the operation is acknowledged as soon as it is applied.
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
		// Half of its commands change no count, so there may be nothing to lose at that moment.
		e.Must, e.May = e.Must&^UnderCounts, e.May|UnderCounts
	}
	return e
}
