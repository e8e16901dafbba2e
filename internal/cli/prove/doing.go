package prove

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/mongo/once"
)

// session is the client of one writer. The strategies of a backend know the type behind it.
type session interface {
	// Judge returns the information that an application has about an error.
	Judge(err error) Trouble
	Close(ctx context.Context) error
}

// doing is one running operation of a writer.
type doing struct {
	client   session
	id       OpID
	document string
	durable  bool          // Couchbase is asked for majority durability
	pause    time.Duration // between two tries of an application's loop
	tries    []try
}

// try is one call of the client by a strategy.
type try struct {
	step    Step
	began   time.Time
	ended   time.Time
	err     error
	trouble Trouble // if err is not nil
}

// try makes one call of the client, and records it.
func (d *doing) try(step Step, call func() error) error {
	t := try{step: step, began: time.Now()}
	t.err = call()
	t.ended = time.Now()
	if t.err != nil {
		t.trouble = d.client.Judge(t.err)
	}
	d.tries = append(d.tries, t)
	return t.err
}

// claim returns the effect of the whole operation, as far as the application knows it. It is Unknown if the effect of
// a try that could apply the operation is unknown. The errors of package mongo/once say it themselves.
func (d *doing) claim(s Strategy, err error) Claim {
	var e *once.Error
	switch {
	case err == nil:
		return Applied
	case errors.As(err, &e) && e.State == once.NotApplied:
		return NotApplied
	case e != nil:
		return Unknown
	}
	for _, t := range d.tries {
		if s.applies(t.step) && (t.err == nil || t.trouble.Claim == Unknown) {
			return Unknown
		}
	}
	return NotApplied
}

// record is one operation that has ended.
type record struct {
	id OpID
	// durable means that Couchbase was asked for majority durability.
	durable bool
	began   time.Time
	ended   time.Time
	err     error
	claim   Claim
	tries   []try
	// outage means that the operation ended during the outage.
	outage bool
	// calm means that the operation had no fault, and that the cluster was whole from its begin to its end.
	calm bool
}
