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

// ruleOf returns the rule that a strategy comes to; ok is false if it comes to none.
func ruleOf(s Strategy) (r rule, ok bool) {
	if s, is := s.(interface{ rule() (rule, bool) }); is {
		return s.rule()
	}
	return rule{}, false
}

func (r *rule) after(retries int) (a Action) {
	if retries+1 >= r.attempts {
		a.why = AttemptsUsed
		return a
	}
	a.retry = true
	if r.delay != nil {
		a.delay = r.delay(retries)
	}
	return a
}
