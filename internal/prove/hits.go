package prove

import "github.com/holdfast-db/holdfast/mongo/mongotest"

// Hits counts how often one kind of fault happened.
type Hits struct {
	// Verified hits are confirmed by the servers' journal, or there is no journal.
	Verified int `json:"verified"`
	// Early hits are verified and left the operation unapplied. Late hits are verified and left it applied.
	Early int `json:"early"`
	Late  int `json:"late"`
	// Unverified hits are not confirmed by the journal. They do not count.
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

// enough reports whether there are goal verified hits. A fault of the cluster also needs half of them early and half
// of them late.
func (h Hits) enough(kind FaultKind, goal int) bool {
	if kind.breaksCluster() && (h.Early < goal/2 || h.Late < goal/2) {
		return false
	}
	return h.Verified >= goal
}

// withMargin returns the number of hits that a load aims at, because the journal may not confirm all.
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

// messageID identifies a message on the server.
type messageID struct {
	conn    int64
	request int32
}

// confirmed reports whether the journal confirms the hit. With w1 the operation may have been rolled back later.
func (h *hit) confirmed(journal map[messageID]mongotest.Entry, w1 bool) bool {
	e, found := journal[h.message]
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
