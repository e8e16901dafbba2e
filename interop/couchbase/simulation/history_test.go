package simulation

import (
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
	push         effect = iota // adds its token to the log of a register
	add                        // adds its amount to a counter
	subtract                   // subtracts its amount from a counter
	put                        // makes the token the document
	appendText                 // adds the token at the end
	prependText                // adds the token at the beginning
	remove                     // removes the document
	queryChanged               // a statement was executed by the query service
)

func (e effect) String() string {
	return [...]string{"push", "add", "subtract", "put", "append", "prepend", "remove", "query"}[e]
}

// safety is which ends of processes an acknowledged write must outlive.
type safety uint8

const (
	unsafe    safety = iota // a hard failover or the end of a process may lose it
	inMemory                // of enough nodes: a hard failover must not lose it
	onDiskToo               // of the active node at least: the end of a process must not lose it either
)

func (s safety) String() string {
	return [...]string{"not durable", "durable in memory", "durable on disk"}[s]
}

// write is a change of one document.
type write struct {
	doc    string
	token  string
	effect effect
	amount uint64
	safety safety
	claim  outcome
	cas    uint64 // that the client was told; 0: nothing was acknowledged
	// found and left are the contents before and after the change, if the call shows them.
	found, left *string
}

// missing is the content of a document that does not exist.
const missing = "(missing)"

// read is what a call saw of one document.
type read struct {
	doc     string
	content string
	unlike  bool // the content is another one than content
	replica bool // a replica may be behind
}

// call is one call of the client by a worker, with at most one write.
type call struct {
	id     string
	worker int
	kind   string
	// began and ended order the begins and ends of all calls and of all losses; ended is 0 while the call runs.
	began, ended int64
	from, to     time.Duration // since the begin of the life
	terms        string

	write *write
	reads []read

	err error
	report
}

func (c *call) failed() bool { return c.err != nil }

func (c *call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d-%d %v-%v %s %s (%s)", c.began, c.ended, c.from, c.to, c.id, c.kind, c.terms)
	if w := c.write; w != nil {
		fmt.Fprintf(&b, " %s %s %s %s: %s, cas %x;", w.effect, w.doc, w.token, w.safety, w.claim, w.cas)
	}
	for _, r := range c.reads {
		fmt.Fprintf(&b, " read %s: unlike %t replica %t %q;", r.doc, r.unlike, r.replica, r.content)
	}
	if c.err != nil {
		fmt.Fprintf(&b, " error: %v", c.err)
	}
	return b.String()
}

// loss is a moment at which a node's end may have undone writes.
type loss struct {
	began, ended int64
	crash        bool // a process ended; otherwise it was a failover
	lost         []int64
}

// history is all calls of a life. Its methods are safe for concurrent use.
type history struct {
	begin time.Time
	clock atomic.Int64

	mu         sync.Mutex
	calls      []*call
	losses     []loss
	queries    map[string]int // how often the statement of a token was executed
	violations []violation
}

func newHistory() *history { return &history{begin: time.Now(), queries: make(map[string]int)} }

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
	if c.write != nil {
		c.write.claim = unknown
	}
	c.began = h.clock.Add(1)
}

// end ends a call with its error.
func (h *history) end(c *call, err error) {
	c.ended = h.clock.Add(1)
	c.to = time.Since(h.begin)
	c.err = err
	claim := applied
	if err != nil {
		c.report = reportOf(err)
		claim = c.claim
	}
	if c.write != nil {
		c.write.claim = claim
	}
}

// executed counts the execution of a statement.
func (h *history) executed(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queries[token]++
}
