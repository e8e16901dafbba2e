package prove

// mongoFailures are those of the resilience article, their mixture, and one that the article does not have.
var mongoFailures = []Failure{
	{Name: "request-lost", Title: "request lost", faults: []FaultKind{RequestLost}},
	{Name: "reply-lost", Title: "reply lost", faults: []FaultKind{ReplyLost}},
	{Name: "step-down", Title: "step-down", faults: []FaultKind{SteppedDown}},
	{Name: "primary-killed", Title: "primary killed", faults: []FaultKind{PrimaryKilled}},
	{Name: "partition", Title: "partition", faults: []FaultKind{Partitioned}},
	{Name: "outage", Title: "persistent outage", faults: []FaultKind{Outage}},
	{Name: "command-error", Title: "command error", faults: []FaultKind{CommandRefused}},
	{Name: "overload", Title: "overload", faults: []FaultKind{ServerOverloaded}},
	{Name: Mixed, Title: "all mixed", faults: []FaultKind{
		RequestLost, ReplyLost, SteppedDown, PrimaryKilled, Partitioned, CommandRefused, ServerOverloaded, Outage,
	}},
	{Name: "delayed-request", Title: "delayed request", faults: []FaultKind{RequestDelayed}},
}

// mongoRollbacks are the failures in which acknowledged writes are lost and must stay lost.
var mongoRollbacks = []Failure{
	{Name: "primary-killed-w1", Title: "primary killed, w:1", W: One, faults: []FaultKind{PrimaryKilled}},
	{Name: "partition-w1", Title: "partition, w:1", W: One, faults: []FaultKind{Partitioned}},
}
