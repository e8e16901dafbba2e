package prove

// mongoExpected has the verdict that theory predicts for each strategy and kind of fault. If there is no entry, it is
// "right". The table was written before the experiment was run.
var mongoExpected = map[string]map[FaultKind]Expectation{
	// An operation that was not applied is not sent again. One whose request is delayed is applied later.
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
		RequestDelayed: {Must: OverCounts},
	},
	OneRetry: {
		ReplyLost:      {Must: OverCounts},
		SteppedDown:    {Must: OverCounts},
		PrimaryKilled:  {Must: OverCounts},
		Partitioned:    {Must: OverCounts},
		RequestDelayed: {Must: OverCounts},
	},
	// The delayed first step puts the token back that the second step has removed, and the sweep applies it.
	TwoStep: {
		RequestDelayed: {Must: OverCounts},
	},
	// An operation whose outcome is unknown is not sent again, because an increment is not idempotent. A refusal of the old primary says that
	// the operation was not applied, so a step-down is survived.
	BestEffort: {
		RequestLost:   {Must: UnderCounts},
		PrimaryKilled: {Must: UnderCounts},
		Partitioned:   {Must: UnderCounts},
	},
}
