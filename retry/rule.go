package retry

import (
	"math"
	"time"
)

// rule is a strategy that looks at nothing but how often the operation was tried again. To follow it copies neither
// request nor failure.
type rule struct {
	attempts int                             // how many at most, with the first
	delay    func(retries int) time.Duration // nil: at once
}

// unlimited is a number of attempts that no operation reaches.
const unlimited = math.MaxInt

// ruleOf returns the rule that a strategy comes to; ok is false if it comes to none. It goes by the type itself: one that
// embeds another may do something else.
func ruleOf(s Strategy) (r rule, ok bool) {
	switch s := s.(type) {
	case Limited:
		return s.rule()
	case BestEffort:
		return rule{attempts: unlimited, delay: s.delay}, true
	case untilDeadline:
		return rule{attempts: unlimited}, true
	default:
		return rule{}, false
	}
}

func (r *rule) allows(retries int) bool { return retries+1 < r.attempts }

func (r *rule) wait(retries int) time.Duration {
	if r.delay == nil {
		return 0
	}
	return r.delay(retries)
}
