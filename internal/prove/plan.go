package prove

import "slices"

// plan says which operations are hit and by what. It is a pure function of the seed, the failure and the operation: the
// same for every strategy. Operations are taken in blocks; one of each block, chosen by hash, is hit. In a failure of
// several kinds the kinds take turns, in an order that changes with each round.
//
// The outage is not in the plan: being the end of the load, it begins with the first message after the load has reached
// its goals.
type plan struct {
	seed    uint64
	kinds   []FaultKind
	every   int // operations in a block
	writers int
}

func newPlan(seed uint64, f Failure, every, writers int) plan {
	kinds := slices.DeleteFunc(slices.Clone(f.faults), func(k FaultKind) bool { return k == Outage })
	return plan{seed: mix(seed, hashOf(f.Name)), kinds: kinds, every: max(1, every), writers: writers}
}

// planned is a fault that an operation is to meet.
type planned struct {
	kind   FaultKind
	moment moment
	// second: in the two-step form it is the second step that is hit.
	second bool
	code   int32 // of a refusal
}

// moment is when, in the course of a message, its fault strikes.
type moment uint8

const (
	beforeExecution moment = iota
	afterApply             // the primary alone has applied it
	afterCommit            // its write concern was satisfied; the answer does not arrive
)

// moments returns when a fault can strike, to be taken in turns: half of them so that the operation stays applied, half
// so that it does not. A primary that steps down first hands over all that it has, and its connections stay, or are closed
// as by servers before 4.2; one that dies or is cut off does not hand over.
func (k FaultKind) moments() []moment {
	switch k {
	case SteppedDown:
		return []moment{beforeExecution, afterApply, beforeExecution, afterCommit}
	case PrimaryKilled, Partitioned:
		return []moment{beforeExecution, afterCommit, afterApply, afterCommit}
	case ReplyLost:
		return []moment{afterCommit}
	case RequestLost, Outage, CommandRefused, ServerOverloaded:
	}
	return []moment{beforeExecution}
}

// late reports whether the fault leaves its operation applied.
func (f planned) late() bool {
	return f.moment == afterCommit || f.moment == afterApply && f.kind == SteppedDown
}

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
	kind := p.kinds[shuffled(len(p.kinds), mix(p.seed, 2, uint64(round)))[block%len(p.kinds)]]
	phase := mix(p.seed, 3, uint64(kind))
	bits := mix(p.seed, 4, uint64(block))
	f := planned{kind: kind, second: bits&1 == 1, code: refusals[bits>>1%uint64(len(refusals))].code}
	moments := kind.moments()
	f.moment = moments[(uint64(round)+phase)%uint64(len(moments))]
	return f, true
}

// refusals are command errors that no retry can help.
var refusals = [...]struct {
	code    int32
	name    string
	message string
}{
	{13, "Unauthorized", "not authorized to execute this command"},
	{121, "DocumentValidationFailure", "Document failed validation"},
}

// strikes reports whether the fault is meant for this step and attempt.
func (f planned) strikes(twoSteps bool, step Step, attempt int) bool {
	if attempt > 0 && f.kind != CommandRefused {
		return false
	}
	return !twoSteps || f.second == (step == SecondStep)
}
