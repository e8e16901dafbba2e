package prove

// couchbaseExpected has the verdict that theory predicts for each strategy and kind of fault. If there is no entry, it is "right". The
// table was written before the experiment was run. A move of a vbucket is never an error: its status is retried by every strategy.
var couchbaseExpected = map[string]map[FaultKind]Expectation{
	// An operation that is refused is not sent again, and one without a reply has an unknown outcome. While the connection is made anew,
	// the next operation may be refused too.
	NoRetry: {
		RequestLost:        {Must: Ambiguous, May: UnderCounts},
		ReplyLost:          {Must: Ambiguous, May: UnderCounts},
		FailedOver:         {Must: Ambiguous | Loses, May: UnderCounts},
		BlackHoled:         {Must: Ambiguous},
		TemporaryFailure:   {Must: UnderCounts},
		DocumentLocked:     {Must: UnderCounts},
		SyncWriteAmbiguous: {Must: Ambiguous},
	},
	// An operation whose reply was lost, or is late, is applied again.
	FiveBlind: {
		ReplyLost:          {Must: OverCounts},
		FailedOver:         {Must: OverCounts | Loses},
		BlackHoled:         {Must: OverCounts},
		SyncWriteAmbiguous: {Must: OverCounts},
	},
	// An operation without a reply has an unknown outcome, which the error says. What was not replicated is lost with its node.
	BestEffort: {
		RequestLost:        {Must: Ambiguous},
		ReplyLost:          {Must: Ambiguous},
		FailedOver:         {Must: Ambiguous | Loses},
		BlackHoled:         {Must: Ambiguous},
		SyncWriteAmbiguous: {Must: Ambiguous},
	},
	// A read settles each unknown outcome.
	CASLoop: {
		FailedOver: {Must: Loses},
	},
	// The same as best effort, but what was acknowledged stays.
	BestEffortDurable: {
		RequestLost:        {Must: Ambiguous},
		ReplyLost:          {Must: Ambiguous},
		FailedOver:         {Must: Ambiguous},
		BlackHoled:         {Must: Ambiguous},
		SyncWriteAmbiguous: {Must: Ambiguous},
	},
}
