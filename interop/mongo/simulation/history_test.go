package simulation

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

type (
	violation = simcheck.Violation
	outcome   = simcheck.Outcome
)

const (
	notApplied = simcheck.NotApplied
	applied    = simcheck.Applied
	unknown    = simcheck.Unknown
)

// effect is the kind of a change.
type effect uint8

const (
	push   effect = iota // adds its token to the document's log
	insert               // makes the document, which is named by the token
	remove               // removes the document
)

func (e effect) String() string { return [...]string{"push", "insert", "remove"}[e] }

// write is a change of one document.
type write struct {
	ns, doc string
	token   string
	effect  effect
	claim   outcome
}

// level is what a read may be held to.
type level uint8

const (
	anything     level = iota // may be rolled back later
	committed                 // a majority had it
	linearizable              // and it was the newest
	snapshot                  // all reads of the call show one point in time
)

func (l level) String() string {
	return [...]string{"anything", "committed", "linearizable", "snapshot"}[l]
}

// read is what a call saw of one document.
type read struct {
	ns, doc string
	level   level
	log     []string
	// number of the document's changes, which must be the length of log.
	n int
}

// returned is what a findAndModify returned: the log before its own change, or after it.
type returned struct {
	log   []string
	after bool
}

// call is one call of the client by a worker. A transaction is one call.
type call struct {
	id     string // the comment of its commands
	worker int
	kind   string
	// began and ended order the begins and ends of all calls; ended is 0 while the call runs.
	began, ended int64
	from, to     time.Duration // since the begin of the life
	limit        string        // the deadline, as text

	atomic bool // all writes or none
	writes []write
	reads  []read
	image  *returned
	// swapped is the log that a conditional write found, when it was done.
	swapped []string

	err error
	report
	// inner are the errors in a transaction, each of one command.
	inner []report
	// commands is how many commands a successful call needs; several batches for example. 0 means that it varies.
	commands int
}

// failed reports whether the call returned an error.
func (c *call) failed() bool { return c.err != nil }

func (c *call) claimAll(o outcome) {
	for i := range c.writes {
		c.writes[i].claim = o
	}
}

func (c *call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d-%d %v-%v %s %s (%s)", c.began, c.ended, c.from, c.to, c.id, c.kind, c.limit)
	for _, w := range c.writes {
		fmt.Fprintf(&b, " %s %s/%s %s: %s;", w.effect, w.ns, w.doc, w.token, w.claim)
	}
	for _, r := range c.reads {
		fmt.Fprintf(&b, " read %s/%s %s: %d %v;", r.ns, r.doc, r.level, r.n, r.log)
	}
	if c.image != nil {
		fmt.Fprintf(&b, " image after %t: %v", c.image.after, c.image.log)
	}
	if c.err != nil {
		fmt.Fprintf(&b, " error: %v", c.err)
	}
	for _, r := range c.inner {
		fmt.Fprintf(&b, "\n    inner error: %s", r.text)
	}
	return b.String()
}

// history is all calls of a life. Its methods are safe for concurrent use.
type history struct {
	begin time.Time
	clock atomic.Int64

	mu         sync.Mutex
	calls      []*call
	violations []violation
}

func (h *history) violated(rule, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.violations = append(h.violations, violation{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// start begins a call, which is in the history even if it never ends.
func (h *history) start(c *call) {
	h.mu.Lock()
	h.calls = append(h.calls, c)
	h.mu.Unlock()
	c.from = time.Since(h.begin)
	c.claimAll(unknown)
	c.began = h.clock.Add(1)
}

// end ends a call with its error. Where a call has several statements it may correct the claims afterwards.
func (h *history) end(c *call, err error) {
	c.ended = h.clock.Add(1)
	c.to = time.Since(h.begin)
	c.err = err
	if err == nil {
		c.claimAll(applied)
		return
	}
	c.report = reportOf(err)
	c.claimAll(c.claim)
}

var errNoDocument = errors.New("a document that must exist was not found")
