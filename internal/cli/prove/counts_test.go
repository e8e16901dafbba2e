package prove

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/once"
)

func TestCounts(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name      string
		r         record
		applied   int
		permanent bool
		learns    bool
		want      Counts
		flaw      Flaw
	}{
		{"acknowledged and applied", record{claim: Applied}, 1, false, true, Counts{}, ""},
		{"acknowledged and not applied", record{claim: Applied}, 0, false, false, Counts{Missing: 1, Misreported: 1}, FlawMissing},
		{"acknowledged and applied twice", record{claim: Applied}, 2, false, false, Counts{Extra: 1}, FlawExtra},
		{"errored and not applied, after a transient fault", record{err: failed}, 0, false, true, Counts{Missing: 1}, FlawMissing},
		{"errored and not applied, after a permanent fault", record{err: failed, claim: NotApplied}, 0, true, true, Counts{}, ""},
		{"errored and applied", record{err: failed}, 1, false, false, Counts{FailedButApplied: 1}, ""},
		{"errored and applied, claimed not applied", record{err: failed, claim: NotApplied}, 1, true, false, Counts{FailedButApplied: 1, Misreported: 1}, FlawMisreported},
		{"errored and applied, by a strategy that can know better", record{err: failed}, 1, false, true, Counts{FailedButApplied: 1, Misreported: 1}, FlawMisreported},
		{"errored and applied, by a strategy that can know better, in an outage", record{err: failed, outage: true}, 1, true, true, Counts{FailedButApplied: 1}, ""},
		{"errored and applied, claimed not applied, in an outage", record{err: failed, outage: true, claim: NotApplied}, 1, true, true, Counts{FailedButApplied: 1, Misreported: 1}, FlawMisreported},
	} {
		var got Counts
		o := fate{record: c.r, applied: c.applied, permanent: c.permanent, learns: c.learns}
		got.add(o)
		flaw := classifyMongo(&got, o)
		if got.Missing != c.want.Missing || got.Extra != c.want.Extra || got.Misreported != c.want.Misreported ||
			got.FailedButApplied != c.want.FailedButApplied {
			t.Errorf("%s: %+v", c.name, got)
		}
		if flaw != c.flaw {
			t.Errorf("%s: the flaw is %q, want %q", c.name, flaw, c.flaw)
		}
	}
}

func TestStrategiesThatCanKnowWhetherAnOperationWasApplied(t *testing.T) {
	for _, s := range MongoDB.Strategies() {
		if want := s.Name == TwoStep || s.Name == Once || s.Name == RetryableWrites; s.learns() != want {
			t.Errorf("%s: %t", s.Name, !want)
		}
	}
}

func TestTheAuditFindsDifferences(t *testing.T) {
	document := func(n int, ops bson.D) bson.Raw {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: "d"}, {Key: "n", Value: n}, {Key: "ops", Value: ops}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	kept := entry{key: "w0_1", applied: true}
	rolledBack := entry{key: "w0_1", applied: true, lost: true}
	one := bson.D{{Key: "w0_1", Value: 1}}
	for _, c := range []struct {
		name     string
		document bson.Raw
		journal  []entry
		fine     bool
	}{
		{"all agree", document(1, one), []entry{kept, rolledBack}, true},
		{"the counter is not the sum", document(2, one), []entry{kept}, false},
		{"the journal has more applications", document(1, one), []entry{kept, kept}, false},
		{"the journal has no application", document(1, one), []entry{rolledBack}, false},
		{"the journal has another operation", document(0, bson.D{}), []entry{kept}, false},
		{"a field that is not an operation's", document(1, bson.D{{Key: "x", Value: 1}}), nil, false},
		{"a field that is not a number", document(1, bson.D{{Key: "w0_1", Value: "1"}}), nil, false},
	} {
		b := newBook()
		b.journal = c.journal
		found, err := mongoTally(c.document)
		if err == nil {
			err = b.enter(found)
		}
		if err == nil {
			err = b.compare()
		}
		if (err == nil) != c.fine {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTheClaimOfAnOperation(t *testing.T) {
	failed := errors.New("failed")
	refused := try{step: FirstStep, err: failed, trouble: Trouble{Claim: NotApplied}}
	lost := try{step: FirstStep, err: failed, trouble: Trouble{Kind: Network}}
	second := try{step: SecondStep, err: failed, trouble: Trouble{Claim: NotApplied}}
	for _, c := range []struct {
		name     string
		twoSteps bool
		err      error
		tries    []try
		want     Claim
	}{
		{"acknowledged", false, nil, []try{lost, {}}, Applied},
		{"each try refused", false, failed, []try{refused, refused}, NotApplied},
		{"lost once, then refused", false, failed, []try{lost, refused}, Unknown},
		{"the first step may have left a token for a sweep", true, failed, []try{lost, lost}, Unknown},
		{"the second step refused, so the token is there", true, failed, []try{{step: FirstStep}, second}, Unknown},
		{"each step refused", true, failed, []try{refused, second}, NotApplied},
		{"once: not applied", true, &once.Error{State: once.NotApplied}, []try{lost}, NotApplied},
		{"once: pending", true, &once.Error{State: once.Pending}, []try{refused}, Unknown},
	} {
		d := doing{tries: c.tries}
		if got := d.claim(Strategy{twoSteps: c.twoSteps}, c.err); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}
