package site

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Arrival is one message of the program that has come.
type Arrival struct {
	explore.Message
	Failure string // the failure that happens to it, "" if none does

	base  *Base
	at    time.Time
	turn  int
	who   string // the server
	key   Key
	words string // what became of it
	lost  bool   // the request or the reply was lost
}

// Key is a connection and a request on it, by which a server's journal knows a message.
type Key struct{ Conn, Request int64 }

// Arrived records a message that has come to a server, with the failure that happens to it. It returns nil if the failures are over.
func (b *Base) Arrived(m explore.Message, who string, key Key) *Arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOver {
		return nil
	}
	name := m.Command + "/" + m.Target
	b.seen[name]++
	m.Ordinal = b.seen[name]
	b.turn++
	a := &Arrival{Message: m, base: b, at: time.Now(), turn: b.turn, who: who, key: key}
	b.arrivals = append(b.arrivals, a)
	if b.begun < len(b.strikes) && b.strikes[b.begun].Message.Same(m) {
		a.Failure = b.strikes[b.begun].Failure
		b.begun++
		b.struck = append(b.struck, len(b.arrivals)-1)
	}
	return a
}

// missed notes that the failure has not happened, though its message came.
func (a *Arrival) missed() {
	b := a.base
	b.mu.Lock()
	defer b.mu.Unlock()
	b.struck = slices.DeleteFunc(b.struck, func(at int) bool { return b.arrivals[at] == a })
	a.Failure = ""
}

// late notes that the message was delivered only after all failures had ended, so that nobody got its reply.
func (a *Arrival) late() {
	a.base.mu.Lock()
	defer a.base.mu.Unlock()
	a.lost = true
	if a.words == neverExecuted {
		a.words = "never delivered, because its server had died"
		return
	}
	a.words = "delivered only after all failures had ended: " + a.words
}

// executed notes the answer of a server that executed the message.
func (a *Arrival) executed(words string, lost bool) {
	a.base.mu.Lock()
	defer a.base.mu.Unlock()
	a.words, a.lost = words, lost
}

// neverExecuted are the words about a message that was neither executed nor answered.
const neverExecuted = "not executed, no reply"

// struck notes what became of a message that met a failure.
func (a *Arrival) struck(executed bool, words string, lost bool) {
	a.base.mu.Lock()
	defer a.base.mu.Unlock()
	a.lost = lost
	switch {
	case !executed && lost:
		a.words = neverExecuted
	case !executed:
		a.words = "not executed, " + words
	case lost:
		a.words += ", the reply was lost"
	case a.words != words:
		a.words += "; then answered: " + words
	}
}
