package site

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// note is an event with its turn: on the fake clock many events have one time.
type note struct {
	turn int
	explore.Event
}

// Note adds a line about the program or the cluster to what happened.
func (b *Base) Note(who, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn++
	b.notes = append(b.notes, note{b.turn, explore.Event{At: time.Since(b.began), Who: who, Words: fmt.Sprintf(format, args...)}})
}

// Problem notes that the run itself went wrong, so that it shows a mistake whatever the check finds.
func (b *Base) Problem(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// Fate is what a server's journal says about a message.
type Fate struct {
	Changed bool     // data was changed, and stays so
	Words   []string // what else became of it
}

// Tell tells an outcome what happened.
func (b *Base) Tell(o *explore.Outcome, fates map[Key]Fate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.Struck = slices.Clone(b.struck)
	o.Problems = append(o.Problems, b.problems...)
	all := slices.Clone(b.notes)
	for _, a := range b.arrivals {
		o.Messages = append(o.Messages, a.Message)
		all = append(all, note{a.turn, b.event(a, fates[a.key])})
	}
	slices.SortFunc(all, func(a, b note) int { return a.turn - b.turn })
	for _, n := range all {
		o.Events = append(o.Events, n.Event)
	}
}

// event returns the line about a message.
func (b *Base) event(a *Arrival, f Fate) explore.Event {
	words := a.words
	if words == "" {
		words = "not answered yet"
	}
	m := a.Message
	return explore.Event{
		At: a.at.Sub(b.began), Who: a.who, Message: &m, Words: strings.Join(append([]string{words}, f.Words...), "; "),
		Struck: a.Failure != "", Lost: a.lost, Changed: f.Changed,
	}
}
