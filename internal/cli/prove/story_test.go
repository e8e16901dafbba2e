package prove

import (
	"slices"
	"testing"
)

// checkStories checks the stories of a cell against its examples and the final data.
func checkStories(t *testing.T, r *Result) {
	t.Helper()
	name := r.Strategy + "/" + r.Failure
	var told, flawed []Flaw
	for i := range r.Stories {
		told = append(told, r.Stories[i].Flaws...)
		checkStory(t, name, &r.Stories[i])
	}
	for _, e := range r.Examples {
		if !slices.Contains(flawed, e.Flaw) {
			flawed = append(flawed, e.Flaw)
		}
	}
	if !slices.Equal(sorted(told), sorted(flawed)) {
		t.Errorf("%s: the stories have the flaws %v, the examples %v", name, told, flawed)
	}
	if (len(r.Stories) == 0) != (r.Unavailable != "") {
		t.Errorf("%s has %d stories; unavailable: %q", name, len(r.Stories), r.Unavailable)
	}
}

func sorted(flaws []Flaw) []Flaw {
	slices.Sort(flaws)
	return flaws
}

// checkStory checks that a story agrees with the final data.
func checkStory(t *testing.T, cell string, s *Story) {
	t.Helper()
	count := make(map[EventKind]int)
	applied, whole := 0, true
	for i, e := range s.Events {
		count[e.Kind]++
		if i > 0 && e.At < s.Events[i-1].At {
			t.Errorf("%s, %s: event %d is before the one that stands before it", cell, s.Operation, i)
		}
		if e.Message.Effect == Applies {
			applied++
		}
		whole = whole && e.Kind != EventsOmitted && (!e.ofMessage() || e.Message.Effect != EffectUnknown)
	}
	if count[OperationBegan] != 1 || count[OperationEnded] != 1 || len(s.Events) > maxStoryEvents {
		t.Errorf("%s, %s: it begins %d times and ends %d times, in %d events", cell, s.Operation, count[OperationBegan], count[OperationEnded], len(s.Events))
	}
	if whole && (applied != s.Applied+s.Lost || count[CallBegan] != count[CallEnded] || count[CallBegan] == 0) {
		t.Errorf("%s, %s: its messages apply it %d times, the data have it %d times and %d times lost; %d calls begin and %d end",
			cell, s.Operation, applied, s.Applied, s.Lost, count[CallBegan], count[CallEnded])
	}
	if len(s.Flaws) == 0 && !s.metAFault() {
		t.Errorf("%s, %s: it has no flaw and met no fault", cell, s.Operation)
	}
}

// ofMessage reports whether the event is about a message.
func (e *StoryEvent) ofMessage() bool { return e.Kind == MessageArrived || e.Kind == MessageExecuted }

func (s *Story) metAFault() bool {
	return slices.ContainsFunc(s.Events, func(e StoryEvent) bool { return e.Fault != nil })
}

func TestALongStoryIsShortenedInItsMiddle(t *testing.T) {
	var events []StoryEvent
	for n := range 100 {
		events = append(events, StoryEvent{Number: n})
	}
	got := shortened(slices.Clone(events))
	if len(got) != maxStoryEvents {
		t.Fatalf("%d events, want %d", len(got), maxStoryEvents)
	}
	gap := slices.IndexFunc(got, func(e StoryEvent) bool { return e.Kind == EventsOmitted })
	if gap < 0 || got[gap].Number != 100-len(got)+1 || got[0].Number != 0 || got[gap-1].Number != gap-1 || got[len(got)-1].Number != 99 {
		t.Errorf("events left out: %+v", got)
	}
	if whole := shortened(events[:maxStoryEvents]); len(whole) != maxStoryEvents || whole[maxStoryEvents-1].Number != maxStoryEvents-1 {
		t.Errorf("a story of %d events is cut", maxStoryEvents)
	}
}
