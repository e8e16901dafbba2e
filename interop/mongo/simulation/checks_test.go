package simulation

import (
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

// check returns the violations of all rules that are judged by history and truth.
func (l *life) check() []violation {
	found := slices.Clone(l.history.violations)
	if l.error != nil {
		return append(found, violation{Rule: "simulation", Text: fmt.Sprintf("the life did not end: %v", l.error)})
	}
	found = append(found, checkDocuments(l.truth)...)
	found = append(found, checkOnce(l.history.calls, l.truth)...)
	found = append(found, checkReads(l.history.calls, l.truth)...)
	found = append(found, checkErrors(l.history.calls, l.truth, l.routers > 0)...)
	found = append(found, checkLinearizable(l.history.calls, l.truth)...)
	for _, w := range l.watchers {
		found = append(found, checkStream(w.name, w.ns, w.events, l.truth.events)...)
		found = append(found, checkReports("watcher "+w.name, w.failures)...)
	}
	return found
}

// checkDocuments checks that documents and oplog agree, so that each of them can be taken for the truth.
func checkDocuments(t *truth) []violation {
	v := simcheck.Violations{Rule: "truth"}
	changes := t.changesOf()
	for a, d := range t.documents {
		if a.doc == beginMarker || a.doc == endMarker || a.ns == lives {
			continue
		}
		var tokens []string
		for _, i := range changes[a] {
			if e := t.events[i]; e.change == "update" || e.change == "replace" {
				tokens = append(tokens, e.token)
			}
		}
		if d.N != len(d.Log) || !slices.Equal(tokens, d.Log) {
			v.Add("%v: n is %d, the log %v, and the oplog has %v", a, d.N, d.Log, tokens)
		}
	}
	return v.List
}

// key names one change of one document.
type key struct {
	address
	token  string
	effect effect
}

// counts returns how often each change was made.
func (t *truth) counts() map[key]int {
	counts := make(map[key]int)
	for _, e := range t.events {
		k := key{address: address{e.ns, e.doc}, token: e.token}
		switch e.change {
		case "insert":
			k.effect = insert
		case "delete":
			k.effect = remove
		}
		counts[k]++
	}
	return counts
}

// checkOnce checks the number of times that each write was applied against its claim.
func checkOnce(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "once"}
	counts := t.counts()
	for _, c := range calls {
		done := 0
		for _, w := range c.writes {
			k := key{address{w.ns, w.doc}, w.token, w.effect}
			n := counts[k]
			delete(counts, k)
			done += min(n, 1)
			if n > 1 || n == 0 && w.claim == applied || n > 0 && w.claim == notApplied {
				v.Add("%s of %s/%s by %s, which is reported as %s, was applied %d times: %v", w.effect, w.ns, w.doc, w.token, w.claim, n, c)
			}
		}
		if c.atomic && done != 0 && done != len(c.writes) {
			v.Add("%d of the %d changes of a transaction are there: %v", done, len(c.writes), c)
		}
	}
	for k, n := range counts {
		v.Add("%d changes %v were made by no call", n, k)
	}
	v.Join(checkPresence(t))
	return v.List
}

// checkPresence checks that a document is there if it was inserted and not deleted, and only then.
func checkPresence(t *truth) []violation {
	v := simcheck.Violations{Rule: "once"}
	there := make(map[address]bool)
	for _, e := range t.events {
		switch e.change {
		case "insert":
			there[address{e.ns, e.doc}] = true
		case "delete":
			there[address{e.ns, e.doc}] = false
		}
	}
	for a, is := range there {
		if _, has := t.documents[a]; has != is {
			v.Add("%v is there: %t, by the oplog: %t", a, has, is)
		}
	}
	return v.List
}

// checkReads compares the documents that were read with those that a majority has.
func checkReads(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "snapshot"}
	changes := t.changesOf()
	for _, c := range calls {
		if c.failed() && c.claim == notApplied {
			continue // nothing holds for the reads of a transaction that was aborted
		}
		committedAll := true
		for _, r := range c.reads {
			if r.n != len(r.log) {
				v.Add("%s/%s has %d changes and a log of %d: %v", r.ns, r.doc, r.n, len(r.log), c)
			}
			final := t.documents[address{r.ns, r.doc}].Log
			if r.level != anything && !startsWith(final, r.log) && (!c.failed() || c.isApplied(t)) {
				committedAll = false
				v.Add("%s/%s: what was read is not a beginning of %v: %v", r.ns, r.doc, final, c)
			}
		}
		if committedAll && (!c.failed() || c.isApplied(t)) {
			v.Join(checkSnapshot(c, t, changes))
		}
	}
	return v.List
}

// isApplied reports whether the first write of a call is there.
func (c *call) isApplied(t *truth) bool {
	if len(c.writes) == 0 {
		return false
	}
	w := c.writes[0]
	return slices.Contains(t.documents[address{w.ns, w.doc}].Log, w.token)
}

func startsWith(log, beginning []string) bool {
	return len(beginning) <= len(log) && slices.Equal(log[:len(beginning)], beginning)
}

// checkSnapshot checks that there is a point in the oplog after all changes that the call saw and before all that it did not see,
// and that a transaction's own changes follow its reads. Its reads' logs are beginnings of the documents' logs.
func checkSnapshot(c *call, t *truth, changes map[address][]int) []violation {
	v := simcheck.Violations{Rule: "snapshot"}
	seen, unseen := -1, len(t.events)
	for _, r := range c.reads {
		if r.level != snapshot {
			continue
		}
		a := address{r.ns, r.doc}
		of := changes[a]
		if len(r.log) > 0 {
			seen = max(seen, of[len(r.log)-1])
		}
		if len(r.log) < len(of) {
			unseen = min(unseen, of[len(r.log)])
		}
		for _, w := range c.writes {
			if w.ns != r.ns || w.doc != r.doc {
				continue
			}
			log := t.documents[a].Log
			if at := slices.Index(log, w.token); at >= 0 && at != len(r.log) {
				v.Add("lost update: %s/%s was read with %d changes, and the own one is number %d: %v", r.ns, r.doc, len(r.log), at, c)
			}
		}
	}
	if seen >= unseen {
		v.Add("no snapshot: %v was seen and %v was not: %v", t.events[seen], t.events[unseen], c)
	}
	return v.List
}

// checkStream checks that a watcher got the events of the oplog, each once and in order.
func checkStream(name, ns string, got, oplog []event) []violation {
	v := simcheck.Violations{Rule: "stream"}
	var want []event
	for _, e := range oplog {
		if ns == "" || e.ns == ns {
			want = append(want, e)
		}
	}
	got = slices.DeleteFunc(slices.Clone(got), func(e event) bool { return e.doc == beginMarker || e.doc == endMarker })
	times := make(map[event]int)
	for _, e := range got {
		times[e]++
	}
	for _, e := range want {
		if times[e] != 1 {
			v.Add("%s: %v was returned %d times", name, e, times[e])
		}
		delete(times, e)
	}
	for e := range times {
		v.Add("%s: %v is not in the oplog", name, e)
	}
	for i := range min(len(got), len(want)) {
		if len(v.List) == 0 && got[i] != want[i] {
			v.Add("%s: event %d is %v, want %v", name, i, got[i], want[i])
		}
	}
	return v.List
}

// checkErrors checks the claims of the errors. A router makes attempts of its own, and does not always know whether a member has done
// what a client asked for.
func checkErrors(calls []*call, t *truth, routed bool) []violation {
	v := simcheck.Violations{Rule: "error"}
	for _, c := range calls {
		if !c.failed() {
			continue
		}
		v.Join(checkReports(c.id+" "+c.kind, append(slices.Clone(c.inner), c.report)))
		if c.commands != 1 || c.silent || routed {
			continue
		}
		arrived := t.arrivals[c.id]
		if sent := c.attempts - c.unsent; arrived > sent {
			v.Add("%d messages arrived, and the error tells of %d attempts that were sent: %v", arrived, sent, c)
		}
		if c.claim == unknown && c.answered && !t.concernFailed[c.id] {
			v.Add("the outcome is called unknown, but the server refused each attempt: %v", c)
		}
	}
	return v.List
}

// checkReports checks that each error has its attempts and its reason.
func checkReports(who string, reports []report) []violation {
	v := simcheck.Violations{Rule: "error"}
	for _, r := range reports {
		if r.silent || r.why == "" && r.text != "" {
			v.Add("%s: the error does not say its attempts and its why: %s", who, r.text)
		}
	}
	return v.List
}
