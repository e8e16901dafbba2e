package prove

// mongoExpected has the verdict that theory predicts for each strategy and kind of fault. If there is no entry, it is
// "right". The table was written before the experiment was run.
var mongoExpected = map[string]map[FaultKind]Expectation{
	// An operation that was not applied is not sent again.
	NoRetry: {
		RequestLost:      {Must: UnderCounts},
		SteppedDown:      {Must: UnderCounts},
		PrimaryKilled:    {Must: UnderCounts},
		Partitioned:      {Must: UnderCounts},
		ServerOverloaded: {Must: UnderCounts},
	},
	// An operation whose reply was lost is applied again.
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
