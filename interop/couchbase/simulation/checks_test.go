package simulation

import (
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

// check returns the violations of all rules.
func (l *life) check() []violation {
	found := slices.Clone(l.history.violations)
	if l.error != nil {
		return append(found, violation{Rule: "simulation", Text: fmt.Sprintf("the life did not end: %v", l.error)})
	}
	found = append(found, checkTruth(l.truth)...)
	found = append(found, checkOnce(l.history.calls, l.truth)...)
	found = append(found, checkDurable(l.history.calls, l.truth)...)
	found = append(found, checkContents(l.history.calls, l.truth)...)
	found = append(found, checkErrors(l.history.calls, l.truth)...)
	found = append(found, checkLinearizable(l.history.calls, l.truth)...)
	return found
}

// checkTruth checks that the documents are those that the journal's changes make, so that the journal can be taken for the truth.
func checkTruth(t *truth) []violation {
	v := simcheck.Violations{Rule: "truth"}
	for doc, line := range t.documents {
		if want := line.content(len(line.changes)); line.last != want {
			v.Add("%s is %q at the end; its changes make %q", doc, line.last, want)
		}
		for _, c := range line.changes {
			if c.lost && c.loss == nil && !slices.ContainsFunc(line.changes, func(l change) bool { return l.loss != nil && slices.Contains(l.loss.lost, c.seq) }) {
				v.Add("%s: the change by %s was lost, and no fault did that", doc, c.token)
			}
		}
	}
	return v.List
}

// count returns how often a write was applied, those that were lost again included.
func (t *truth) count(w *write) int {
	if w.effect == queryChanged {
		return t.queries[w.token]
	}
	line := t.documents[w.doc]
	if line == nil {
		return 0
	}
	return len(line.places(w))
}

// checkOnce checks the number of times that each write was applied against its claim.
func checkOnce(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "once"}
	made := make(map[key]bool)
	for _, c := range calls {
		w := c.write
		if w == nil {
			continue
		}
		made[key{w.doc, w.token, w.effect}] = true
		if n := t.count(w); n > 1 || n == 0 && w.claim == applied || n > 0 && w.claim == notApplied {
			v.Add("%s of %s by %s, which is reported as %s, was applied %d times: %v", w.effect, w.doc, w.token, w.claim, n, c)
		}
	}
	for doc, line := range t.documents {
		for _, c := range line.changes {
			if c.loss == nil && !made[key{doc, c.token, c.effect}] {
				v.Add("the change %s of %s by %q was made by no call", c.effect, doc, c.token)
			}
		}
	}
	return v.List
}

// checkDurable checks that each acknowledged durable write is there at the end, whatever happened to nodes. Couchbase's documentation of
// durability says that a write at the level "majority" is in the memory of the nodes: the end of the active node's process, which
// then serves what it has on disk, may lose such a write; a failover may not.
func checkDurable(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "durable"}
	for _, c := range calls {
		w := c.write
		if w == nil || w.safety == unsafe || c.failed() {
			continue
		}
		if t.count(w) == 0 {
			v.Add("the %s write of %s was acknowledged and never committed: %v", w.safety, w.doc, c)
			continue
		}
		line := t.documents[w.doc]
		for _, at := range line.places(w) {
			if l := line.undone(at); l != nil && (!l.crash || w.safety == onDiskToo) {
				v.Add("the %s write of %s was acknowledged and is lost by a failover (%t: by the end of a process): %v", w.safety, w.doc, l.crash, c)
			}
		}
	}
	return v.List
}

// undone returns the loss that undid a change, nil if none did.
func (t *timeline) undone(at int) *loss {
	if !t.changes[at].lost {
		return nil
	}
	for _, c := range t.changes[at:] {
		if c.loss != nil && slices.Contains(c.loss.lost, t.changes[at].seq) {
			return c.loss
		}
	}
	return nil
}

// checkContents checks what calls saw against the contents that the documents had: all that a replica returns was there once; a write
// found what the call had read, left what it returned, and has the CAS that the client was told.
func checkContents(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "content"}
	for _, c := range calls {
		for _, r := range c.reads {
			if r.replica && !r.unlike && !t.documents[r.doc].ever(r.content) {
				v.Add("%s never was %q: %v", r.doc, r.content, c)
			}
		}
		w := c.write
		if w == nil || c.failed() || t.documents[w.doc] == nil {
			continue
		}
		line := t.documents[w.doc]
		for _, at := range line.places(w) {
			switch {
			case w.found != nil && line.content(at) != *w.found:
				v.Add("%s was %q when it was replaced, and not what had been read: %v", w.doc, line.content(at), c)
			case w.left != nil && line.content(at+1) != *w.left:
				v.Add("%s was %s after the change, which returned %s: %v", w.doc, line.content(at+1), *w.left, c)
			case w.cas != line.changes[at].cas:
				v.Add("%s got the CAS %x by the change: %v", w.doc, line.changes[at].cas, c)
			}
		}
	}
	return v.List
}

// ever reports whether a document had a content at any time.
func (t *timeline) ever(content string) bool {
	return content == t.start || slices.ContainsFunc(t.changes, func(c change) bool { return c.content == content })
}

// checkErrors checks what errors say about their attempts.
func checkErrors(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "error"}
	for _, c := range calls {
		if !c.failed() {
			continue
		}
		writes := c.write != nil
		switch {
		case c.silent:
			v.Add("the error does not say its attempts and its why: %v", c)
		case c.ambiguous && c.unambiguous:
			v.Add("the timeout is of both kinds: %v", c)
		case writes && c.unambiguous && c.mayHaveApplied:
			v.Add("the timeout is called unambiguous, but an attempt may have been applied: %v", c)
		case c.ambiguous && c.attempts > 0 && (!writes || !c.mayHaveApplied) && c.kind != "getAndLock" && c.kind != "unlock" && c.kind != "touch":
			v.Add("the timeout is called ambiguous, but nothing may have been applied: %v", c)
		}
		if w := c.write; writes && c.attempts > 0 && w.effect != queryChanged {
			if arrived := t.arrivals[key{w.doc, w.token, w.effect}]; arrived > c.sent {
				v.Add("%d requests arrived, and the error tells of %d attempts that were sent: %v", arrived, c.sent, c)
			}
		}
	}
	return v.List
}
