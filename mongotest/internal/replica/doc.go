// Package replica is the replica set below a test server: its members, their elections, the replication of their logs, the transactions
// that began at them, and the faults of the network between them. It knows no connections and no commands.
//
// One write through it: who executes a command takes the set's mutex ([Set.Lock]) and appends an entry as the primary
// ([Member.AppendLocked]), which the member's store applies at once. [Member.PublishLocked] wakes the goroutines of the other members
// ([Member.Replicate]). Each fetches from its source what it lacks, after its delay, and tells the primary how far it is; that moves the
// commit point, and who waits for a condition on the set ([Set.AwaitLocked]) is told of the change ([Set.ChangedLocked]).
//
// A method whose name ends in Locked is called with the set's mutex held. The mutex also guards the exported fields that may change.
package replica
