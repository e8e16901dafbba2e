package prove

import "github.com/holdfast-db/holdfast/mongo/mongotest"

// Hits is how often one kind of fault happened.
type Hits struct {
	// Verified hits are those that the servers' journal confirms, where there is one.
	Verified int `json:"verified"`
	// Early and Late are the verified ones by whether they left the operation applied.
	Early int `json:"early"`
	Late  int `json:"late"`
	// Unverified are those that the journal does not confirm. They do not count.
	Unverified int `json:"unverified,omitempty"`
}

func (h *Hits) add(late, verified bool) {
	switch {
	case !verified:
		h.Unverified++
	case late:
		h.Verified, h.Late = h.Verified+1, h.Late+1
	default:
		h.Verified, h.Early = h.Verified+1, h.Early+1
	}
}

// enough reports whether there are as many as asked for, of both sorts if the fault has both.
func (h Hits) enough(kind FaultKind, goal int) bool {
	if kind.breaksCluster() && (h.Early < goal/2 || h.Late < goal/2) {
		return false
	}
	return h.Verified >= goal
}

// withMargin is how many hits a load goes for, because some may turn out not to be confirmed.
func withMargin(goal int) int { return goal + goal/10 }

// reached reports whether each kind of fault has happened often enough.
func (i *injector) reached(f Failure, size Size) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	var count [faultKinds]Hits
	for _, h := range i.hits {
		count[h.kind].add(h.late(), true)
	}
	for _, kind := range f.faults {
		if goal := size.goal(f, kind); kind != Outage && !count[kind].enough(kind, withMargin(goal)) {
			return false
		}
	}
	return true
}

// messageID names a message as the server saw it.
type messageID struct {
	conn    int64
	request int32
}

// confirmed reports whether the journal shows that the hit was what it claims to be. w1: what was applied may have been
// rolled back later.
func (h *hit) confirmed(journal map[messageID]mongotest.Entry, w1 bool) bool {
	e, found := journal[messageID{h.connID, h.requestID}]
	switch h.kind {
	case RequestLost, Outage:
		return found && e.RequestLost
	case ReplyLost:
		return found && e.ReplyLost && e.Applied
	case CommandRefused, ServerOverloaded:
		return !e.Applied
	case SteppedDown, PrimaryKilled, Partitioned:
		if h.late() {
			return h.healed && e.Applied && (w1 || !e.RolledBack)
		}
		return h.healed && (!e.Applied || e.RolledBack)
	}
	return false
}
