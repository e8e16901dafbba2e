package prove

import "slices"

// plan determines the faults and their operations. It is a pure function of the seed, the failure and the operation,
// and so the same for every strategy. The operations are divided into blocks. A hash chooses one operation of each
// block, which gets a fault. In a failure of several kinds, each round of blocks has each kind once, in an order of
// its own. The outage is not in the plan. It begins with the first message after the load has reached its goals.
type plan struct {
	seed    uint64
	kinds   []FaultKind
	every   int // number of operations in a block
	writers int
}

func newPlan(seed uint64, f Failure, every, writers int) plan {
	kinds := slices.DeleteFunc(slices.Clone(f.faults), func(k FaultKind) bool { return k == Outage })
	return plan{seed: mix(seed, hashOf(f.Name)), kinds: kinds, every: max(1, every), writers: writers}
}

// planned is the fault of an operation.
type planned struct {
	kind   FaultKind
	moment moment
	// second means that, in the two-step form, the fault is for the second step.
	second bool
	code   int32 // the error code of CommandRefused
	// follows means that the fault happens at the end of another operation that is sent again.
	follows bool
}

// moment is the time at which a fault happens to its message.
type moment uint8

const (
	beforeExecution      moment = iota
	afterApply                  // only the primary has applied it
	afterCommit                 // its write concern is satisfied, or Couchbase's node has executed it; the reply has not been sent
	afterReplication            // every replica has it; the reply has not been sent
	afterAcknowledgement        // the operation has ended, and only its node is sure to have it
)

// String returns the moment in words.
func (m moment) String() string {
	return [...]string{
		"before the execution", "when the primary has applied it", "before the reply", "when every replica has it", "after the acknowledgement",
	}[m]
}

// moments returns the moments of a fault, which are used in turn. For a fault of the cluster, half of them leave the
// operation applied. A primary that steps down first waits until a secondary has all its writes; its connections stay
// open, or are closed as by servers before 4.2. A primary that is killed or partitioned loses the writes that no
// other member has, and so does a node that fails over.
func (k FaultKind) moments() []moment {
	switch k {
	case SteppedDown:
		return []moment{beforeExecution, afterApply, beforeExecution, afterCommit}
	case PrimaryKilled, Partitioned:
		return []moment{beforeExecution, afterCommit, afterApply, afterCommit}
	case ReplyLost:
		return []moment{afterCommit}
	case Rebalanced, BlackHoled, SyncWriteAmbiguous:
		return []moment{beforeExecution, afterCommit}
	case FailedOver:
		return []moment{beforeExecution, afterAcknowledgement, beforeExecution, afterReplication}
	case RequestLost, Outage, CommandRefused, ServerOverloaded, TemporaryFailure, DocumentLocked, RequestDelayed:
	}
	return []moment{beforeExecution}
}

// showing returns the moments of which each shows an element of the verdict that no other one shows: an acknowledged operation is lost,
// or one that is applied gets no reply.
func (k FaultKind) showing() []moment {
	if k == FailedOver {
		return []moment{afterAcknowledgement, afterReplication}
	}
	return nil
}

// late reports whether the message was executed before the fault and, in MongoDB, stays applied.
func (f planned) late() bool {
	return f.moment >= afterCommit || f.moment == afterApply && f.kind == SteppedDown
}

// losesRequest reports whether a fault before the execution prevents it.
func (f planned) losesRequest() bool { return f.kind == FailedOver }

// losesReply reports whether a fault after the execution keeps the reply from its client.
func (f planned) losesReply() bool { return f.kind != Rebalanced && f.kind != BlackHoled }

// of returns the operation's fault, if it has one.
func (p plan) of(id OpID) (planned, bool) {
	if len(p.kinds) == 0 {
		return planned{}, false
	}
	block, place := id.ordinal(p.writers)/p.every, id.ordinal(p.writers)%p.every
	if uint64(place) != mix(p.seed, 1, uint64(block))%uint64(p.every) {
		return planned{}, false
	}
	round := block / len(p.kinds)
	kind := p.order(round)[block%len(p.kinds)]
	phase := mix(p.seed, 3, uint64(kind))
	bits := mix(p.seed, 4, uint64(block))
	f := planned{kind: kind, second: bits&1 == 1, code: refusals[bits>>1%uint64(len(refusals))].code}
	moments := kind.moments()
	f.moment = moments[(uint64(round)+phase)%uint64(len(moments))]
	f.follows = kind == PrimaryKilled && !f.late() && slices.Contains(p.kinds, RequestLost) && p.writers > 1
	return f, true
}

// order returns the kinds of a round in the order of its blocks. The block of a lost request is after that of a killed
// primary, which waits for such an operation.
func (p plan) order(round int) []FaultKind {
	var order []FaultKind
	for _, i := range shuffled(len(p.kinds), mix(p.seed, 2, uint64(round))) {
		order = append(order, p.kinds[i])
	}
	lost := slices.Index(order, RequestLost)
	if lost < 0 || !slices.Contains(order, PrimaryKilled) {
		return order
	}
	order = slices.Delete(order, lost, lost+1)
	return slices.Insert(order, slices.Index(order, PrimaryKilled)+1, RequestLost)
}

// refusals are the errors of CommandRefused.
var refusals = [...]struct {
	code    int32
	name    string
	message string
}{
	{13, "Unauthorized", "not authorized to execute this command"},
	{121, "DocumentValidationFailure", "Document failed validation"},
}

// strikes reports whether the fault is for this step and attempt.
func (f planned) strikes(twoSteps bool, step Step, attempt int) bool {
	if attempt > 0 && f.kind != CommandRefused {
		return false
	}
	return !twoSteps || f.second == (step == SecondStep)
}
