package prove

// routerExpected has the verdict that theory predicts behind a router for each strategy and kind of fault. If there is no entry, it is
// "right". The table was written before the experiment was run, from these rules: the router sends a write again, under a number of its
// own or the client's, by which the server recognises it. So no client hears of a fault that passes, whatever its own retries are. What
// does not pass reaches the client as an error of a server, once: only a loop that asks nothing repeats it.
var routerExpected = map[string]map[FaultKind]Expectation{
	FiveBlind: {
		Outage:         {Must: WastesTime},
		CommandRefused: {Must: WastesTime},
	},
}

// routerBeforeExpected is the table of the leg before the router. Nobody but the client sees the end of its connection, so there is no help
// against what it cannot do itself.
var routerBeforeExpected = map[string]map[FaultKind]Expectation{
	NoRetry: {
		RequestLost: {Must: UnderCounts},
	},
	FiveBlind: {
		ReplyLost:      {Must: OverCounts},
		RequestDelayed: {Must: OverCounts},
	},
	OneRetry: {
		ReplyLost:      {Must: OverCounts},
		RequestDelayed: {Must: OverCounts},
	},
	TwoStep: {
		RequestDelayed: {Must: OverCounts},
	},
	BestEffort: {
		RequestLost: {Must: UnderCounts},
	},
}
