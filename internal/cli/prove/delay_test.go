package prove

import (
	"testing"
	"testing/synctest"
)

func TestADelayedRequestIsConfirmedByTheJournal(t *testing.T) {
	own, retry := messageID{1, 1}, messageID{2, 1}
	late := entry{id: own, place: 2, troubled: true}
	for _, c := range []struct {
		name    string
		journal []entry
		want    bool
	}{
		{"it came after its retry", []entry{{id: retry, place: 1}, late}, true},
		{"it was not executed", []entry{{id: retry, place: 1}}, false},
		{"it was lost", []entry{{id: retry, place: 1}, {id: own, place: 2, troubled: true, requestLost: true}}, false},
		{"its client got the answer", []entry{{id: retry, place: 1}, {id: own, place: 2}}, false},
		{"its retry came later", []entry{late, {id: retry, place: 3}}, false},
	} {
		h := &hit{planned: planned{kind: RequestDelayed}, message: own, others: []messageID{retry}}
		b := book{journal: c.journal}
		if got := h.confirmed(b.messages(), false); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestADelayedRequestArrivesWhenItsOperationHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInjector(t.Context(), plan{}, newReferee(1), nil, nil, false)
		id := OpID{0, 1}
		h := newHit(message{part{id, FirstStep}, messageID{1, 1}}, planned{kind: RequestDelayed})
		i.seen[h.part] = []messageID{h.message, {2, 1}}
		f := i.delay(h)
		arrived, ended := false, false
		go func() {
			<-f.late
			arrived = true
			f.after()
		}()
		synctest.Wait()
		if arrived || h.done {
			t.Error("it arrives before the operation has ended")
		}
		go func() {
			i.ended(OpID{0, 0}, true)
			i.ended(id, true)
			ended = true
		}()
		synctest.Wait()
		if !arrived || !ended || !h.done || len(h.others) != 1 || len(i.hits) != 1 {
			t.Errorf("arrived %t, ended %t, %+v", arrived, ended, h)
		}
	})
}
