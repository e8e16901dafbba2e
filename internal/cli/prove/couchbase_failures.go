package prove

var couchbaseFailures = []Failure{
	{Name: "request-lost", Title: "request lost", faults: []FaultKind{RequestLost}},
	{Name: "reply-lost", Title: "reply lost", faults: []FaultKind{ReplyLost}},
	{Name: "rebalance", Title: "rebalance", faults: []FaultKind{Rebalanced}},
	{Name: "hard-failover", Title: "hard failover", faults: []FaultKind{FailedOver}},
	{Name: "black-hole", Title: "black hole", faults: []FaultKind{BlackHoled}},
	{Name: "temporary-failure", Title: "temporary failure", faults: []FaultKind{TemporaryFailure}},
	{Name: "lock", Title: "lock", faults: []FaultKind{DocumentLocked}},
	{Name: "a3", Title: "a3 (sync write ambiguous)", faults: []FaultKind{SyncWriteAmbiguous}},
	{Name: Mixed, Title: "all mixed", faults: []FaultKind{
		RequestLost, ReplyLost, Rebalanced, FailedOver, BlackHoled, TemporaryFailure, DocumentLocked, SyncWriteAmbiguous,
	}},
}
