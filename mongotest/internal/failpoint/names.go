package failpoint

// The names of the fail points that there are; mongotest says what each does.
const (
	Command         = "failCommand"
	Write           = "onPrimaryTransactionalWrite"
	GetMore         = "failGetMoreAfterCursorCheckout"
	AlwaysTimeOut   = "maxTimeAlwaysTimeOut"
	NeverTimeOut    = "maxTimeNeverTimeOut"
	StopReplication = "stopReplProducer"
)
