package prove

import "slices"

// Hits counts how often one kind of fault happened.
type Hits struct {
	// Verified hits are confirmed by the servers' journal, or there is no journal.
	Verified int `json:"verified"`
	// Early hits are verified, and happened before the execution or left the operation unapplied. The other verified ones are late.
	Early int `json:"early"`
	Late  int `json:"late"`
	// Unverified hits are not confirmed by the journal. They do not count.
	Unverified int `json:"unverified,omitempty"`

	at uint8 // the moments of the verified ones, a bit for each
}

func (h *Hits) add(f *planned, verified bool) {
	switch {
	case !verified:
		h.Unverified++
		return
	case f.late():
		h.Late++
	default:
		h.Early++
	}
	h.Verified++
	h.at |= 1 << f.moment
}

// enough reports whether there are goal verified hits. A fault with several moments also needs half of
// them early and half of them late, and one at each moment that shows what no other shows.
func (h Hits) enough(kind FaultKind, goal int) bool {
	if len(kind.moments()) > 1 && (h.Early < goal/2 || h.Late < goal/2) {
		return false
	}
	for _, m := range kind.showing() {
		if !h.struckAt(m) {
			return false
		}
	}
	return h.Verified >= goal
}

func (h Hits) struckAt(m moment) bool { return h.at&(1<<m) != 0 }

// withMargin returns the number of hits that a load aims at, because the journal may not confirm all.
func withMargin(goal int) int { return goal + goal/10 }

// reached reports whether each kind of fault has happened often enough.
func (i *injector) reached(kinds []FaultKind) bool {
	count := i.hitCounts()
	for _, kind := range kinds {
		if kind != Outage && !count[kind].enough(kind, i.goal(kind)) {
			return false
		}
	}
	return true
}

// sated reports whether there were so many faults of this kind, on this side of the execution, that there shall be no more.
func (i *injector) sated(f planned) bool {
	happened := i.hitCounts()[f.kind]
	if slices.Contains(f.kind.showing(), f.moment) && !happened.struckAt(f.moment) {
		return false
	}
	if f.late() {
		return happened.Late >= i.goal(f.kind)
	}
	return happened.Early >= i.goal(f.kind)
}

// hitCounts returns how often each kind of fault has happened.
func (i *injector) hitCounts() (count [faultKinds]Hits) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, h := range i.hits {
		count[h.kind].add(&h.planned, true)
	}
	return count
}

// confirmed reports whether the journal confirms the hit. With w1 the operation may have been rolled back later.
func (h *hit) confirmed(journal map[messageID]entry, w1 bool) bool {
	e, found := journal[h.message]
	switch h.kind {
	case RequestLost, Outage:
		return found && e.requestLost
	case ReplyLost:
		return found && e.replyLost && e.applied
	case CommandRefused, ServerOverloaded:
		return !e.applied
	case SteppedDown, PrimaryKilled, Partitioned:
		if h.late() {
			return h.healed && e.applied && (w1 || !e.lost)
		}
		return h.healed && (!e.applied || e.lost)
	case Rebalanced, FailedOver, DocumentLocked:
		return h.healed && found && e.applied == h.late() && (!e.lost || h.moment != afterReplication)
	case BlackHoled:
		return h.healed && found && (e.applied || !h.late())
	case RequestDelayed:
		return found && !e.requestLost && e.troubled && h.overtaken(journal)
	case TemporaryFailure, SyncWriteAmbiguous:
		return found && e.failed && e.applied == h.late()
	}
	return false
}
