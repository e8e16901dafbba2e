package revocation

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// Source: OCSP Support, "Suggested OCSP Caching Behavior".
func TestTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, testserver.OCSPSettings{})
		w.check("", 1)
		w.responder.Set(revoked, good)
		w.check("", 1) // a good answer is kept
		<-time.After(time.Hour - time.Nanosecond)
		w.check("", 1)
		<-time.After(time.Nanosecond) // nextUpdate is excluded
		w.check("is revoked", 2)
		w.responder.Set(good, good)
		w.check("is revoked", 2) // a revoked one too
		<-time.After(time.Hour)
		w.responder.Set(unknown, good)
		w.check("", 3)
		w.check("", 4) // one that knows nothing is not
		w.responder.Set(silence, good)
		w.check("", 5)
		w.check("", 6)
	})
}

func TestAStapledAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, testserver.OCSPSettings{Staple: true})
		w.check("", 0)
		w.responder.Set(revoked, silence) // nothing is stapled
		w.check("", 0)
		<-time.After(30 * time.Minute)
		w.responder.Set(revoked, good)
		w.check("", 0)
		<-time.After(59 * time.Minute) // the answer of the first connection would have expired
		w.responder.Set(revoked, silence)
		w.check("", 0)
		<-time.After(time.Minute)
		w.check("is revoked", 1)
	})
}

// Source: OCSP Support, "Suggested OCSP Behavior", step 4.
func TestAStapledAnswerThatKnowsNothingLeadsToTheCache(t *testing.T) {
	w := newWorld(t, testserver.OCSPSettings{Staple: true})
	w.responder.Set(revoked, silence) // nothing is stapled
	w.check("is revoked", 1)
	w.responder.Set(good, unknown)
	w.check("is revoked", 1)
}

// A server that staples an older good answer does not hide that a newer one says revoked.
func TestAnOlderStapledAnswerIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, testserver.OCSPSettings{Staple: true})
		older := w.shown()
		<-time.After(time.Minute)
		w.responder.Set(revoked, revoked)
		w.check("is revoked", 0)
		w.checkState(t.Context(), older, "is revoked", 0)
		w.responder.Set(good, good)
		<-time.After(time.Minute)
		w.check("", 0) // the newest counts
	})
}

// And a stapled answer that says revoked counts, although an answer that is newer is known.
func TestAStapledAnswerThatSaysRevokedCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, testserver.OCSPSettings{Staple: true})
		w.responder.Set(revoked, revoked)
		older := w.shown()
		<-time.After(time.Minute)
		w.responder.Set(good, good)
		w.check("", 0)
		w.checkState(t.Context(), older, "is revoked", 0)
	})
}

func TestTwoCertificatesHaveTwoAnswers(t *testing.T) {
	one, other := newWorld(t, testserver.OCSPSettings{}), newWorld(t, testserver.OCSPSettings{URL: "http://other.example/"})
	one.check("", 1)
	other.responder.Set(revoked, revoked)
	one.checker.client = other.checker.client
	if err := one.checker.Check(t.Context(), other.shown(), time.Now); err == nil {
		t.Error("the certificate of another authority has the answer of the first")
	}
	one.check("", 1)
}

func at(minute int) time.Time { return time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC) }

func TestWhatACacheKeeps(t *testing.T) {
	earlier := at(0).Add(-time.Second)
	until := func(minute, status int) answer {
		a := answer{status: status, from: at(0)}
		if minute > 0 {
			a.until = at(minute)
		}
		return a
	}
	for _, c := range []struct {
		name        string
		first, then answer
		now         int
		newest      answer // what put returns
		kept        bool
	}{
		{"a later end wins", until(10, ocsp.Good), until(11, ocsp.Revoked), 1, until(11, ocsp.Revoked), true},
		{"an earlier end does not", until(10, ocsp.Good), until(9, ocsp.Revoked), 1, until(10, ocsp.Good), true},
		{"neither does the same end", until(10, ocsp.Good), until(10, ocsp.Revoked), 1, until(10, ocsp.Good), true},
		{"what has expired does not count", until(3, ocsp.Good), until(9, ocsp.Good), 3, until(9, ocsp.Good), true},
		{"an answer without an end removes it", until(10, ocsp.Good), until(0, ocsp.Good), 1, until(0, ocsp.Good), false},
		{"unless it began earlier", until(10, ocsp.Revoked), answer{status: ocsp.Good, from: earlier}, 1, until(10, ocsp.Revoked), true},
		{"and the other has not expired", until(3, ocsp.Revoked), answer{status: ocsp.Good, from: earlier}, 3, answer{status: ocsp.Good, from: earlier}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var store cache
			id := certID{serialNo: "1"}
			store.put(id, c.first, at(0))
			if got := store.put(id, c.then, at(c.now)); got != c.newest {
				t.Errorf("put returns %v, want %v", got, c.newest)
			}
			got, kept := store.get(id, at(c.now))
			if kept != c.kept || kept && got != c.newest {
				t.Errorf("get returns %v, %t", got, kept)
			}
		})
	}
}

func TestACacheRemovesWhatHasExpired(t *testing.T) {
	var store cache
	for i := range 10 {
		store.put(certID{serialNo: strconv.Itoa(i)}, answer{from: at(0), until: at(i + 1)}, at(0))
	}
	if _, ok := store.get(certID{serialNo: "4"}, at(5)); ok || len(store.answers) != 9 {
		t.Errorf("get: %t, %d answers", ok, len(store.answers))
	}
	store.put(certID{serialNo: "new"}, answer{from: at(0), until: at(60)}, at(5))
	if len(store.answers) != 6 {
		t.Errorf("put leaves %d answers, want 6", len(store.answers))
	}
}

func TestACacheIsBounded(t *testing.T) {
	var store cache
	id := func(i int) certID { return certID{serialNo: strconv.Itoa(i)} }
	for i := range maxAnswers + 5 {
		store.put(id(i), answer{from: at(0), until: at(1000 + (i+500)%maxAnswers)}, at(0))
	}
	if len(store.answers) != maxAnswers {
		t.Errorf("%d answers, want %d", len(store.answers), maxAnswers)
	}
	for _, i := range []int{500, 501, 504} { // those that would have expired first
		if _, ok := store.get(id(i), at(0)); ok {
			t.Errorf("answer %d is there", i)
		}
	}
	for _, i := range []int{0, 499, 505, maxAnswers + 4} {
		if _, ok := store.get(id(i), at(0)); !ok {
			t.Errorf("answer %d is not there", i)
		}
	}
}
