package prove

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

func TestCounts(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name      string
		err       error
		claim     Claim
		applied   int
		permanent bool
		want      Counts
	}{
		{"acknowledged and applied", nil, Applied, 1, false, Counts{}},
		{"acknowledged and not applied", nil, Applied, 0, false, Counts{Missing: 1, Misreported: 1}},
		{"acknowledged and applied twice", nil, Applied, 2, false, Counts{Extra: 1}},
		{"errored and not applied, after a transient fault", failed, Unknown, 0, false, Counts{Missing: 1}},
		{"errored and not applied, after a permanent fault", failed, NotApplied, 0, true, Counts{}},
		{"errored and applied", failed, Unknown, 1, false, Counts{FailedButApplied: 1}},
		{"errored and applied, claimed not applied", failed, NotApplied, 1, true, Counts{FailedButApplied: 1, Misreported: 1}},
	} {
		var got Counts
		wrong := got.add(record{err: c.err, claim: c.claim}, c.applied, c.permanent)
		if got.Missing != c.want.Missing || got.Extra != c.want.Extra || got.Misreported != c.want.Misreported ||
			got.FailedButApplied != c.want.FailedButApplied {
			t.Errorf("%s: %+v", c.name, got)
		}
		if wrong != (c.want.Missing+c.want.Extra+c.want.Misreported > 0) {
			t.Errorf("%s: wrong is %t", c.name, wrong)
		}
	}
}

func TestOverdoneAttempts(t *testing.T) {
	id := OpID{0, 0}
	began := time.Now()
	tries := func(n int) (list []try) {
		for i := range n {
			list = append(list, try{step: FirstStep, ended: began.Add(time.Duration(i+1) * time.Second)})
		}
		return list
	}
	for _, c := range []struct {
		name     string
		outage   bool
		refused  bool
		tries    int
		messages int
		overdone int
		wasted   float64
	}{
		{"two in an outage", true, false, 2, 1, 0, 0},
		{"six in an outage", true, false, 6, 1, 1, 4},
		{"one after a command error", false, true, 1, 1, 0, 0},
		{"two after a command error", false, true, 2, 2, 1, 1},
		{"a client that retries a command error itself", false, true, 1, 2, 1, 0},
		{"six after a transient fault", false, false, 6, 6, 0, 0},
	} {
		cell := &cell{injector: &injector{seen: map[part]int{{id, FirstStep}: c.messages}, refused: map[OpID]*hit{}}}
		if c.refused {
			cell.injector.refused[id] = &hit{part: part{id, FirstStep}}
		}
		var got Counts
		cell.attempts(&got, record{
			id: id, outage: c.outage, err: errors.New("failed"), tries: tries(c.tries),
			ended: began.Add(time.Duration(c.tries) * time.Second),
		})
		if got.Overdone != c.overdone || got.WastedSeconds != c.wasted || got.Messages != c.messages {
			t.Errorf("%s: %+v", c.name, got)
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
	entry := mongotest.Entry{Key: "w0_1", Applied: true}
	rolledBack := mongotest.Entry{Key: "w0_1", Applied: true, RolledBack: true}
	one := bson.D{{Key: "w0_1", Value: 1}}
	for _, c := range []struct {
		name     string
		document bson.Raw
		journal  []mongotest.Entry
		fine     bool
	}{
		{"all agree", document(1, one), []mongotest.Entry{entry, rolledBack}, true},
		{"the counter is not the sum", document(2, one), []mongotest.Entry{entry}, false},
		{"the journal has more applications", document(1, one), []mongotest.Entry{entry, entry}, false},
		{"the journal has no application", document(1, one), []mongotest.Entry{rolledBack}, false},
		{"the journal has another operation", document(0, bson.D{}), []mongotest.Entry{entry}, false},
		{"a field that is not an operation's", document(1, bson.D{{Key: "x", Value: 1}}), nil, false},
		{"a field that is not a number", document(1, bson.D{{Key: "w0_1", Value: "1"}}), nil, false},
	} {
		b := book{applied: make(map[OpID]int), journal: c.journal, known: true}
		err := b.enter(c.document)
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
		{"the first step alone does not apply the operation", true, failed, []try{lost, lost}, NotApplied},
		{"the second step refused", true, failed, []try{{step: FirstStep}, second}, NotApplied},
	} {
		d := doing{tries: c.tries}
		if got := d.claim(c.twoSteps, c.err); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}
