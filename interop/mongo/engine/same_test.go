package engine

import (
	"errors"
	"testing"
)

// The compared libraries must do the same work: each passes successes on, tries again once, and only once.
func TestAllDoTheSame(t *testing.T) {
	const n = 100
	for _, c := range contenders(t) {
		if c.success != nil {
			t.Run(c.name+" success", func(t *testing.T) {
				s := &service{fails: never}
				checkCalls(t, s, n, c.success.run(s, n))
			})
		}
		if c.retry != nil {
			t.Run(c.name+" one retry", func(t *testing.T) {
				s := &service{fails: first}
				checkCalls(t, s, n, c.retry.run(s, n))
			})
		}
		if c.retry != nil && c.name != bareName {
			t.Run(c.name+" no second retry", func(t *testing.T) {
				s := &service{fails: always}
				if err := c.retry.run(s, n); !errors.Is(err, errBroken) || s.calls != attempts {
					t.Errorf("%d calls, want %d, ended with %v", s.calls, attempts, err)
				}
			})
		}
	}
}
