package prove

import (
	"context"
	"time"
)

// doing is one running operation of a writer.
type doing struct {
	client   Client
	id       OpID
	document string
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

func (d *doing) increment(ctx context.Context) error {
	return d.try(ctx, FirstStep, increment(d.id, d.document))
}

func (d *doing) announce(ctx context.Context) error {
	return d.try(ctx, FirstStep, announce(d.id, d.document))
}

func (d *doing) settle(ctx context.Context) error {
	return d.try(ctx, SecondStep, settle(d.id, d.document))
}

func (d *doing) try(ctx context.Context, step Step, u Update) error {
	t := try{step: step, began: time.Now()}
	t.err = d.client.Update(ctx, u)
	t.ended = time.Now()
	if t.err != nil {
		t.trouble = d.client.Judge(t.err)
	}
	d.tries = append(d.tries, t)
	return t.err
}

// claim returns the effect of the whole operation, as far as the application knows it. It is Unknown if the effect of
// a try that could apply the operation is unknown.
func (d *doing) claim(twoSteps bool, err error) Claim {
	if err == nil {
		return Applied
	}
	for _, t := range d.tries {
		applies := !twoSteps || t.step == SecondStep
		if applies && (t.err == nil || t.trouble.Claim == Unknown) {
			return Unknown
		}
	}
	return NotApplied
}

// record is one operation that has ended.
type record struct {
	id    OpID
	began time.Time
	ended time.Time
	err   error
	claim Claim
	tries []try
	// outage means that the operation ended during the outage.
	outage bool
	// calm means that the operation had no fault, and that the cluster was whole from its begin to its end.
	calm bool
}
