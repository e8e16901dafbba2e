package mockcontrol

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// rule is a fault or a script that is in use, or was.
type rule struct {
	ID       int             `json:"id"`
	Kind     string          `json:"kind"` // the path of the command that made it: "faults/kv", "faults/http" or "scripts"
	Happened int64           `json:"happened"`
	Body     json.RawMessage `json:"rule"`

	happened atomic.Int64 // how many requests it was applied to
	remove   func()
}

// rules are those that were made and not removed, the oldest first.
type rules struct {
	mu   sync.Mutex
	last int
	list []*rule
}

// add adds a rule, and returns what the client is told.
func (l *rules) add(kind string, body any, use func(*rule) (remove func())) (any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("the rule cannot be shown: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	r := &rule{ID: l.last, Kind: kind, Body: text}
	r.remove = use(r)
	l.list = append(l.list, r)
	return map[string]int{"id": r.ID}, nil
}

// removeAll removes all rules.
func (l *rules) removeAll() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list)
	for _, r := range l.list {
		r.remove()
	}
	l.list = nil
	return n
}

// listRules returns all rules with how often they happened.
func (c *control) listRules(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	c.rules.mu.Lock()
	defer c.rules.mu.Unlock()
	list := make([]*rule, 0, len(c.rules.list))
	for _, one := range c.rules.list {
		list = append(list, &rule{ID: one.ID, Kind: one.Kind, Happened: one.happened.Load(), Body: one.Body})
	}
	return map[string]any{"rules": list}, nil
}

func (c *control) removeRules(*http.Request) (any, error) {
	return map[string]int{"removed": c.rules.removeAll()}, nil
}

// removeRule removes one rule. It returns how often it happened.
func (c *control) removeRule(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	c.rules.mu.Lock()
	defer c.rules.mu.Unlock()
	at := slices.IndexFunc(c.rules.list, func(one *rule) bool { return one.ID == id })
	if err != nil || at < 0 {
		return nil, &problem{http.StatusNotFound, "id", fmt.Sprintf("there is no rule %q", r.PathValue("id"))}
	}
	one := c.rules.list[at]
	one.remove()
	c.rules.list = slices.Delete(c.rules.list, at, at+1)
	return map[string]int64{"happened": one.happened.Load()}, nil
}

// limits say to how many requests a rule is applied.
type limits struct {
	Times int    `json:"times,omitempty"` // 0: no limit
	For   string `json:"for,omitempty"`   // from the command on; "" is no limit
}

// checkLimits returns the time for which the rule is applied, 0 if that has no limit.
func (l *limits) checkLimits() (time.Duration, error) {
	if err := notNegative("times", l.Times); err != nil {
		return 0, err
	}
	return duration("for", l.For)
}

// quota counts the requests to which a rule is applied.
type quota struct {
	times int64
	until time.Time // zero: no limit
	taken atomic.Int64
}

// take reports whether the rule is applied to one more request.
func (q *quota) take() bool {
	if !q.until.IsZero() && !time.Now().Before(q.until) {
		return false
	}
	return q.taken.Add(1) <= q.times || q.times == 0
}

func newQuota(times int, d time.Duration) *quota {
	q := &quota{times: int64(times)}
	if d > 0 {
		q.until = time.Now().Add(d)
	}
	return q
}
