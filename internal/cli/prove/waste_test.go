package prove

import (
	"errors"
	"testing"
	"time"
)

// fixedDelay is a site whose delay is known.
type fixedDelay struct {
	site
	time.Duration
}

func (f fixedDelay) delay(int) time.Duration { return f.Duration }

// The server selection timeout of the cells here is a second, and the delay of the network a tenth of it.
func TestTheRuleOfTheArticleLimitsAttemptsMessagesAndTime(t *testing.T) {
	const second, delay = time.Second, time.Second / 10
	outage, refused, calm, fault := record{outage: true}, record{}, record{calm: true}, record{}
	for _, c := range []struct {
		name     string
		r        record
		refused  bool
		tries    int
		took     time.Duration
		messages int
		wasteful bool
		wasted   time.Duration
	}{
		{"an outage: two tries", outage, false, 2, second, 1, false, 0},
		{"an outage: three tries", outage, false, 3, second, 1, true, second / 3},
		{"an outage: three messages", outage, false, 1, second, 3, true, 0},
		{"an outage: one try, for the selection timeout and the network's delay", outage, false, 1, second + delay, 1, false, 0},
		{"an outage: one try, for longer than that", outage, false, 1, 6 * second, 1, true, 5 * second},
		{"a command error: one try", refused, true, 1, 0, 1, false, 0},
		{"a command error: two tries", refused, true, 2, second, 2, true, second / 2},
		{"a command error: a client that sends it again itself", refused, true, 1, 0, 2, true, 0},
		{"a command error: one try, for longer than the selection timeout", refused, true, 1, 3 * second, 1, true, 2 * second},
		{"nothing: one message", calm, false, 1, second, 1, false, 0},
		{"nothing: two messages", calm, false, 1, 0, 2, true, 0},
		{"nothing: longer than the selection timeout", calm, false, 1, 2 * second, 1, true, second},
		{"a transient fault: two messages, of two tries", fault, false, 2, 3 * second, 2, false, 0},
		{"a transient fault: three messages", fault, false, 2, 0, 3, true, 0},
	} {
		id := OpID{0, 0}
		c.r.began = time.Unix(1000, 0)
		c.r.ended = c.r.began.Add(c.took)
		for i := range c.tries {
			c.r.tries = append(c.r.tries, try{step: FirstStep, ended: c.r.began.Add(c.took * time.Duration(i+1) / time.Duration(c.tries))})
		}
		cell := &cell{
			site: fixedDelay{nil, delay}, settings: Settings{Timing: Timing{ServerSelection: second}},
			injector: &injector{seen: map[part][]messageID{{id, FirstStep}: make([]messageID, c.messages)}, refused: map[OpID]*hit{}},
		}
		if c.r.outage || c.refused {
			c.r.err = errors.New("failed")
		}
		if c.refused {
			cell.injector.refused[id] = &hit{part: part{id, FirstStep}, at: c.r.began}
		}
		var got Counts
		cell.countMessages(&got, c.r)
		flaw := cell.waste(&got, c.r, nil)
		if (flaw == FlawWasteful) != c.wasteful || (got.Overdone == 1) != c.wasteful || got.Messages != c.messages {
			t.Errorf("%s: %q, %+v", c.name, flaw, got)
		}
		if diff := got.WastedSeconds - c.wasted.Seconds(); diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%s: %v s wasted, want %v", c.name, got.WastedSeconds, c.wasted)
		}
	}
}

// In an outage a try that finds no connection is not counted, whatever the client says about it. One whose message arrived is, and one that
// finds no server. Without an outage all are.
func TestTriesWithoutAConnection(t *testing.T) {
	const second = time.Second
	id, began, failed := OpID{0, 0}, time.Unix(1000, 0), errors.New("failed")
	c := &cell{injector: &injector{
		seen:    map[part][]messageID{{id, FirstStep}: {{1, 1}}},
		arrived: map[messageID]time.Time{{1, 1}: began},
	}}
	for _, one := range []struct {
		name   string
		from   time.Duration // the message arrives at 0
		kind   ErrorKind
		claim  Claim
		err    error
		counts bool
	}{
		{"its message arrived", 0, Network, Unknown, failed, true},
		{"its message arrived at its end", -second, Network, Unknown, failed, true},
		{"before the message", -2 * second, Network, Unknown, failed, false},
		{"after the message", 1, Network, Unknown, failed, false},
		{"the client knows that it sent nothing", second, Network, NotApplied, failed, false},
		{"the labels of a failed handshake", second, Overload, Unknown, failed, false},
		{"no server", second, NoServer, NotApplied, failed, true},
		{"a client without an error for that", second, Refused, Unknown, failed, true},
		{"acknowledged", second, Refused, Unknown, nil, true},
	} {
		r := record{id: id, tries: []try{{
			step: FirstStep, began: began.Add(one.from), ended: began.Add(one.from + second), err: one.err, trouble: Trouble{one.kind, one.claim},
		}}}
		if tries, _ := c.triesOf(r, FirstStep, 1); tries != 1 {
			t.Errorf("%s: %d tries without an outage, want 1", one.name, tries)
		}
		r.outage = true
		if tries, _ := c.triesOf(r, FirstStep, 1); (tries == 1) != one.counts {
			t.Errorf("%s: %d tries in an outage, want %t", one.name, tries, one.counts)
		}
	}
}

// The time before the outage does not count for an operation that began earlier.
func TestTheTimeOfAnOutageBeginsWithTheOutage(t *testing.T) {
	began := time.Unix(1000, 0)
	dark := began.Add(time.Hour)
	c := &cell{injector: &injector{dark: dark}}
	for _, r := range []record{{began: began}, {began: dark.Add(time.Second)}} {
		r.outage, r.err = true, errors.New("failed")
		want := r.began
		if want.Before(dark) {
			want = dark
		}
		if from, limited := c.waitsFrom(r); !limited || !from.Equal(want) {
			t.Errorf("an operation that began at %v is limited from %v, want %v", r.began, from, want)
		}
	}
}

// A second message of a calm operation is right if the journal shows a trouble of the first.
func TestAMessageThatHadATroubleMayBeRepeated(t *testing.T) {
	id, first, second := OpID{0, 0}, messageID{1, 1}, messageID{1, 2}
	c := &cell{injector: &injector{seen: map[part][]messageID{{id, FirstStep}: {first, second}}, refused: map[OpID]*hit{}}}
	for _, one := range []struct {
		name  string
		first entry
		want  int
	}{
		{"answered", entry{}, 1},
		{"not answered, or with an error", entry{troubled: true}, 2},
	} {
		journal := map[messageID]entry{first: one.first, second: {}}
		if got := c.messagesAllowed(record{id: id, calm: true}, FirstStep, journal); got != one.want {
			t.Errorf("the first message is %s: %d messages are allowed, want %d", one.name, got, one.want)
		}
	}
}

// Each message without an answer is worth another one, beside the fault that the injector made. One with an error as its answer is not.
func TestAMessageWithoutAnAnswerMayBeRepeated(t *testing.T) {
	p := part{OpID{0, 0}, FirstStep}
	ids := []messageID{{1, 1}, {2, 1}, {3, 1}}
	answered, unanswered, failed := entry{}, entry{troubled: true}, entry{troubled: true, failed: true}
	for _, c := range []struct {
		name    string
		refused bool
		first   []entry // the last message is answered
		want    int
	}{
		{"a fault", false, []entry{unanswered}, 2},
		{"a fault, and a connection that the machine broke", false, []entry{unanswered, unanswered}, 3},
		{"a fault, and an error as the answer", false, []entry{unanswered, failed}, 2},
		{"a command error", true, []entry{failed}, 1},
		{"a command error after a connection that the machine broke", true, []entry{unanswered}, 2},
		{"nothing", false, nil, 2}, // not calm
	} {
		cell := &cell{injector: &injector{seen: map[part][]messageID{p: ids[:len(c.first)+1]}, refused: map[OpID]*hit{}}}
		if c.refused {
			cell.injector.refused[p.op] = &hit{part: p}
		}
		journal := map[messageID]entry{ids[len(c.first)]: answered}
		for n, e := range c.first {
			journal[ids[n]] = e
		}
		if got := cell.messagesAllowed(record{id: p.op}, p.step, journal); got != c.want {
			t.Errorf("%s: %d messages are allowed, want %d", c.name, got, c.want)
		}
	}
}
