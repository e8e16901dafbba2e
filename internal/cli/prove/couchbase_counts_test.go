package prove

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
)

func TestTheFlawOfACouchbaseOperation(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name    string
		fate    fate
		want    Counts // except the numbers of operations
		flaw    Flaw
		verdict Verdict
	}{
		{"acknowledged and applied", fate{record: record{claim: Applied}, applied: 1}, Counts{}, "", Right},
		{"acknowledged and never applied", fate{record: record{claim: Applied}}, Counts{Missing: 1, Misreported: 1}, FlawMissing, UnderCounts},
		{"acknowledged and applied twice", fate{record: record{claim: Applied}, applied: 2}, Counts{Extra: 1}, FlawExtra, OverCounts},
		{"acknowledged and lost in a failover", fate{record: record{claim: Applied}, lost: 1}, Counts{Lost: 1}, FlawLost, Loses},
		{"applied, lost in a failover and applied again", fate{record: record{claim: Applied}, applied: 1, lost: 1}, Counts{}, "", Right},
		{"acknowledged as durable and lost", fate{record: record{claim: Applied, durable: true}, lost: 1}, Counts{Lost: 1, DurableLost: 1}, FlawDurableLost, LosesDurable},
		{"acknowledged as durable and never applied", fate{record: record{claim: Applied, durable: true}}, Counts{Lost: 1, DurableLost: 1}, FlawDurableLost, LosesDurable},
		{"ambiguous and not applied", fate{record: record{err: failed}}, Counts{Ambiguous: 1}, FlawAmbiguous, Ambiguous},
		{"ambiguous and applied", fate{record: record{err: failed}, applied: 1}, Counts{Ambiguous: 1}, FlawAmbiguous, Ambiguous},
		{"ambiguous and applied twice", fate{record: record{err: failed}, applied: 2}, Counts{Ambiguous: 1, Extra: 1}, FlawExtra, Ambiguous | OverCounts},
		{"refused and not applied", fate{record: record{err: failed, claim: NotApplied}}, Counts{Missing: 1}, FlawMissing, UnderCounts},
		{"refused and not applied, in a black hole", fate{record: record{err: failed, claim: NotApplied}, permanent: true}, Counts{}, "", Right},
		{"called not applied, and applied", fate{record: record{err: failed, claim: NotApplied}, applied: 1}, Counts{Misreported: 1}, FlawMisreported, Misreports},
		{"called not applied, and applied until a failover", fate{record: record{err: failed, claim: NotApplied}, lost: 1}, Counts{Misreported: 1}, FlawMisreported, Misreports},
		{"called not applied, and applied twice", fate{record: record{err: failed, claim: NotApplied}, applied: 2}, Counts{Misreported: 1, Extra: 1}, FlawExtra, Misreports | OverCounts},
	} {
		var got Counts
		if flaw := classifyCouchbase(&got, c.fate); flaw != c.flaw {
			t.Errorf("%s: the flaw is %q, want %q", c.name, flaw, c.flaw)
		}
		if got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
		got.add(c.fate)
		if v := got.verdict(); v != c.verdict {
			t.Errorf("%s: the verdict is %s, want %s", c.name, v, c.verdict)
		}
	}
}

func TestTheClaimOfACouchbaseError(t *testing.T) {
	client := &couchbaseClient{}
	for _, c := range []struct {
		err  error
		want Claim
	}{
		{couchbase.ErrUnambiguousTimeout, NotApplied},
		{couchbase.ErrAmbiguousTimeout, Unknown},
		{couchbase.ErrRequestCanceled, Unknown},
		{couchbase.ErrDurabilityAmbiguous, Unknown},
		{couchbase.ErrTemporaryFailure, NotApplied},
		{couchbase.ErrCasMismatch, NotApplied},
	} {
		if got := client.Judge(fmt.Errorf("an operation: %w", c.err)).Claim; got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// The second step of a CAS loop only reads.
func TestTheClaimOfACASLoopIgnoresItsReads(t *testing.T) {
	failed := errors.New("failed")
	d := doing{tries: []try{{step: SecondStep}, {step: SecondStep, err: failed}, {step: FirstStep, err: failed, trouble: Trouble{Claim: NotApplied}}}}
	if got := d.claim(Strategy{}, failed); got != NotApplied {
		t.Errorf("%d", got)
	}
}
