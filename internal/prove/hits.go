package prove

// Hits counts how often one kind of fault happened.
type Hits struct {
	// Verified hits are confirmed by the servers' journal, or there is no journal.
	Verified int `json:"verified"`
	// Early hits are verified, and happened before the execution or left the operation unapplied. The other verified ones are late.
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

// enough reports whether there are goal verified hits. A fault with several moments also needs half of
// them early and half of them late.
func (h Hits) enough(kind FaultKind, goal int) bool {
	if len(kind.moments()) > 1 && (h.Early < goal/2 || h.Late < goal/2) {
		return false
	}
	return h.Verified >= goal
}

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
		count[h.kind].add(h.late(), true)
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
		return h.healed && found && e.applied == h.late()
	case BlackHoled:
		return h.healed && found && (e.applied || !h.late())
	case RequestDelayed:
		return found && !e.requestLost && e.troubled && h.overtaken(journal)
	case TemporaryFailure, SyncWriteAmbiguous:
		return found && e.failed && e.applied == h.late()
	}
	return false
}
