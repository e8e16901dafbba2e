package prove

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// twoMessages returns the teller of an operation with one call and two messages, one and two milliseconds after its begin.
func twoMessages(journal ...entry) *teller {
	began := time.Unix(1000, 0)
	p := part{OpID{0, 1}, FirstStep}
	first, second := messageID{1, 1}, messageID{2, 1}
	b := book{journal: journal, known: true}
	r := record{id: p.op, began: began, ended: began.Add(time.Second)}
	r.tries = []try{{step: FirstStep, began: began, ended: r.ended}}
	return &teller{
		cell: &cell{injector: &injector{
			began: began, seen: map[part][]messageID{p: {first, second}}, refused: make(map[OpID]*hit),
			arrived: map[messageID]time.Time{first: began.Add(time.Millisecond), second: began.Add(2 * time.Millisecond)},
		}},
		record: r, book: &b, journal: b.messages(), told: make(map[*hit]bool),
	}
}

func TestAStoryIsComparedWithTheJournalMessageByMessage(t *testing.T) {
	id := OpID{0, 1}
	first := entry{id: messageID{1, 1}, key: id.String(), failed: true}
	second := entry{id: messageID{2, 1}, key: id.String(), applied: true}
	for _, c := range []struct {
		name  string
		spoil func(*teller)
		want  string // a part of the error, or ""
	}{
		{"the story is that of the journal", func(*teller) {}, ""},
		{"the experiment refused the operation, and a message was applied", func(t *teller) {
			t.injector.refused[id] = &hit{part: part{id, FirstStep}}
		}, "message 2: its story says refused"},
		{"the experiment lost a request, and the message was applied", func(t *teller) {
			t.injector.hits = []*hit{{part: part{id, FirstStep}, message: second.id, planned: planned{kind: RequestLost}}}
		}, "message 2: its story says not executed"},
		{"a message stands in no call", func(t *teller) { t.injector.arrived[second.id] = t.began.Add(-time.Second) }, "has it 0 times"},
		{"a message is told twice", func(t *teller) {
			p := part{id, FirstStep}
			t.injector.seen[p] = append(t.injector.seen[p], second.id)
		}, "has it 2 times"},
		{"the servers have no journal", func(t *teller) { t.book.known = false; t.journal = nil }, ""},
	} {
		story := twoMessages(first, second)
		c.spoil(story)
		if _, err := story.tell(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The network delivers the first message after the second one has been applied.
func TestAStoryCountsTheApplicationsInTheOrderOfTheirExecution(t *testing.T) {
	id, began := OpID{0, 1}, time.Unix(1000, 0)
	late := entry{id: messageID{1, 1}, key: id.String(), applied: true, at: began.Add(time.Minute)}
	story := twoMessages(late, entry{id: messageID{2, 1}, key: id.String(), applied: true, at: began.Add(2 * time.Millisecond)})
	events, err := story.tell()
	if err != nil {
		t.Fatal(err)
	}
	var messages []int
	for _, e := range events {
		if e.Message.Effect == Applies {
			messages = append(messages, e.Number)
			if e.Message.Times != len(messages) {
				t.Errorf("message %d is application %d, want %d", e.Number, e.Message.Times, len(messages))
			}
		}
	}
	if len(messages) != 2 || messages[0] != 2 {
		t.Errorf("the messages were applied in the order %v, want 2, 1", messages)
	}
}

// A message that waits before it is executed is told twice: when it arrives, and when it is executed.
func TestAMessageThatIsExecutedAtOnceIsToldOnce(t *testing.T) {
	id, began := OpID{0, 1}, time.Unix(1000, 0)
	atOnce := entry{id: messageID{1, 1}, key: id.String(), failed: true, at: began.Add(2 * time.Millisecond)}
	later := entry{id: messageID{2, 1}, key: id.String(), applied: true, at: began.Add(time.Second)}
	events, err := twoMessages(atOnce, later).tell()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		if e.ofMessage() {
			got = append(got, e.Message.Effect.String())
		}
	}
	if want := []string{"refused", "executed later", "applied"}; !slices.Equal(got, want) {
		t.Errorf("the messages are told as %q, want %q", got, want)
	}
}

// The primary is lost with the operation's effect after its end. The losses before its begin and after that one did not undo it.
func TestTheFaultThatUndidAnOperationIsTold(t *testing.T) {
	story := twoMessages(entry{id: messageID{1, 1}, failed: true}, entry{id: messageID{2, 1}, key: OpID{0, 1}.String(), applied: true, lost: true})
	story.book.lost = map[OpID]int{story.id: 1}
	lost := func(after time.Duration) *hit {
		at := story.began.Add(after)
		return &hit{part: part{OpID{7, 7}, FirstStep}, planned: planned{kind: Outage}, struck: at, healed: true, writable: at.Add(time.Second), repaired: at.Add(time.Second)}
	}
	story.injector.hits = []*hit{lost(-time.Minute), lost(time.Minute), lost(2 * time.Minute)}
	events, err := story.tell()
	if err != nil {
		t.Fatal(err)
	}
	var struck []time.Duration
	for _, e := range events {
		if e.Kind == ClusterStruck {
			struck = append(struck, e.At)
		}
	}
	if len(struck) != 1 || struck[0] != time.Minute {
		t.Errorf("losses are told at %v, want one at 1m0s", struck)
	}
}

func TestAStoryTellsWhichMessagesGotNoReply(t *testing.T) {
	for _, c := range []struct {
		name  string
		entry entry
		fault *hit
		want  bool
	}{
		{"answered", entry{applied: true}, nil, false},
		{"answered with an error", entry{troubled: true, failed: true}, nil, false},
		{"not answered", entry{applied: true, troubled: true}, nil, true},
		{"its reply is lost by the experiment", entry{applied: true}, &hit{planned: planned{kind: ReplyLost}}, true},
	} {
		var event StoryEvent
		twoMessages().executed(&event, c.fault, c.entry, true)
		if event.Message.NoReply != c.want {
			t.Errorf("%s: without a reply: %t, want %t", c.name, event.Message.NoReply, c.want)
		}
	}
}
