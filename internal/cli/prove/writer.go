package prove

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

// writer runs operations one after another until the load has reached its goals.
type writer struct {
	cell    *cell
	number  int
	client  session
	records []record
	outages int // number of operations that failed in the outage
}

func (w *writer) run(ctx context.Context) {
	defer w.cell.referee.leave(w.number)
	for index := 0; ctx.Err() == nil; index++ {
		id := OpID{Writer: w.number, Index: index}
		if !w.goesOn() || w.cell.referee.begin(ctx, id) != nil {
			return
		}
		r := w.do(ctx, id)
		w.cell.injector.ended(id, r.err == nil)
		r.calm = w.cell.referee.end(id, r.err == nil)
		if ctx.Err() != nil {
			return
		}
		w.records = append(w.records, r)
		w.cell.progress(r)
		if r.err != nil {
			_ = pause.For(ctx, w.cell.settings.Timing.Pause)
		}
	}
}

// goesOn reports whether the writer must run another operation. When the load has reached all other goals, goesOn
// starts the outage.
func (w *writer) goesOn() bool {
	c := w.cell
	switch {
	case c.failure.has(Outage) && w.outages >= c.settings.Size.OutageOperations:
		return false
	case !c.injector.darkSince().IsZero():
		return true
	case c.exhausted():
		return false
	case !c.reached():
		return true
	case !c.failure.has(Outage):
		return false
	}
	c.injector.endLoad()
	return true
}

func (w *writer) do(ctx context.Context, id OpID) record {
	d := doing{
		client: w.client, id: id, document: w.cell.document(id), durable: w.cell.durable(id), pause: w.cell.settings.Timing.Pause,
	}
	began := time.Now()
	err := w.cell.strategy.do(ctx, &d)
	r := record{
		id: id, durable: d.durable, began: began, ended: time.Now(), err: err, tries: d.tries,
		claim: d.claim(w.cell.strategy, err), outage: !w.cell.injector.darkSince().IsZero(),
	}
	if r.outage && err != nil { // at its beginning operations may still be acknowledged
		w.outages++
	}
	return r
}
