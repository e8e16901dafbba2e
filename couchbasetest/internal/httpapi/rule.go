package httpapi

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// When selects requests: those for which every field that is set holds. The zero When selects all.
type When struct {
	Services []clustermap.Service
	Nodes    []NodeID
	Method   string
	// Path is the path of the URL with its escapes, or the beginning of it followed by "*".
	Path string
	// Statement is a statement of the query or analytics service. Spaces and semicolons at the ends do not count.
	Statement string
	// Func is called without locks.
	Func func(*Request) bool
}

func (w *When) selects(r *Request) bool {
	return (len(w.Services) == 0 || slices.Contains(w.Services, r.Service)) &&
		(len(w.Nodes) == 0 || slices.Contains(w.Nodes, r.Node)) &&
		(w.Method == "" || w.Method == r.Method) &&
		(w.Path == "" || matchesPath(w.Path, r.Path)) &&
		(w.Statement == "" || trimStatement(w.Statement) == r.Statement) &&
		(w.Func == nil || w.Func(r))
}

func matchesPath(pattern, path string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(path, prefix)
	}
	return pattern == path
}

// rule is a value for the requests that it selects.
type rule[T any] struct {
	when  *When
	left  int       // how many more requests it is for; below 0: no limit
	until time.Time // zero: no limit
	value T
}

// rules is a list of rules. A later rule goes before an earlier one.
type rules[T any] struct {
	mu   sync.Mutex
	list []*rule[T]
}

// add adds a rule for as many requests as times says, and for as long as duration says; 0 is no limit. The function that it
// returns removes the rule.
func (l *rules[T]) add(when When, times int, duration time.Duration, value T) (remove func()) {
	r := &rule[T]{when: &when, left: times, value: value}
	if times <= 0 {
		r.left = -1
	}
	if duration > 0 {
		r.until = time.Now().Add(duration)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r)
	return func() { l.remove(r) }
}

func (l *rules[T]) remove(r *rule[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A copy, because take walks a list without the lock.
	l.list = slices.DeleteFunc(slices.Clone(l.list), func(other *rule[T]) bool { return other == r })
}

// find returns the newest rule that selects a request.
func (l *rules[T]) find(r *Request) *rule[T] {
	l.mu.Lock()
	list := l.list
	l.mu.Unlock()
	for _, one := range slices.Backward(list) {
		if !one.until.IsZero() && !time.Now().Before(one.until) {
			l.remove(one)
			continue
		}
		if one.when.selects(r) {
			return one
		}
	}
	return nil
}

// take returns the value for a request, and counts the request.
func (l *rules[T]) take(r *Request) (value T, ok bool) {
	for {
		one := l.find(r)
		if one == nil {
			return value, false
		}
		if l.count(one) {
			return one.value, true
		}
	}
}

// count takes one request from a rule. It reports false if another request has taken the last one.
func (l *rules[T]) count(r *rule[T]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.list, r) {
		return false
	}
	if r.left > 0 {
		if r.left--; r.left == 0 {
			l.list = slices.DeleteFunc(slices.Clone(l.list), func(other *rule[T]) bool { return other == r })
		}
	}
	return true
}
