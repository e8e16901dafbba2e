package once_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// abandonAll makes clients die between the steps: n documents with a pending increment each.
func (w *world) abandonAll(n int, update any) {
	w.t.Helper()
	remove := w.server.Use("update", mongotest.While(func(r *mongotest.Request) bool {
		_, first := r.Body.Lookup("updates", "0", "u", "$push", "_once.pending").DocumentOK()
		return !first
	}, requestLost))
	defer remove()
	for i := range n {
		if _, err := w.UpdateOne(w.t.Context(), d("_id", i), update, upsert); err == nil {
			w.t.Fatal("the second step was not lost")
		}
	}
}

func (w *world) total() (sum int) {
	w.t.Helper()
	cursor, err := w.plain.Find(w.t.Context(), bson.D{})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []counter
	if err := cursor.All(w.t.Context(), &all); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range all {
		sum += c.N
		if len(c.Once.Pending) > 0 {
			w.t.Errorf("%d tokens are pending", len(c.Once.Pending))
		}
	}
	return sum
}

// Tokens that are old enough are applied; two sweeps at once, and one with lost messages, apply each once.
func TestSweep(t *testing.T) {
	const documents = 50
	for name, faults := range map[string]mongotest.Middleware{
		"no fault": nil, "lost requests": mongotest.Times(1, requestLost), "lost replies": mongotest.Times(1, replyLost),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, once.Options{}, func(w *world) {
				w.abandonAll(documents, increment)
				if r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Hour}); err != nil || r.Tokens != 0 {
					w.t.Errorf("young tokens: %+v, %v", r, err)
				}
				<-time.After(2 * time.Hour)
				r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Hour, ReportOnly: true})
				if err != nil || r.Tokens != documents || r.Applied != 0 || r.Documents != documents || time.Since(r.Oldest) < 2*time.Hour {
					w.t.Errorf("the report: %+v, %v", r, err)
				}
				if faults != nil {
					for _, command := range []string{"find", "getMore", "update"} {
						w.server.Use(command, faults)
					}
				}
				var sweeps sync.WaitGroup
				for range 2 {
					sweeps.Go(func() {
						steps := 0
						progress := func(once.SweepResult) { steps++ }
						r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Hour, BatchSize: 7, Progress: progress})
						if err != nil || r.Failures != 0 || r.Err() != nil || steps == 0 && r.Documents > 0 {
							w.t.Errorf("%+v, %v after %d steps", r, err, steps)
						}
					})
				}
				sweeps.Wait()
				if n := w.total(); n != documents {
					w.t.Errorf("the sum is %d, want %d", n, documents)
				}
			})
		})
	}
}

// A token that its document refuses stays, and is reported. The others are applied.
func TestASweepReportsTheRest(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", "text"))
		w.abandonAll(3, increment)
		<-time.After(time.Minute)
		r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Second})
		if err != nil || r.Tokens != 3 || r.Applied != 2 || r.Failures != 1 || len(r.Failed) != 1 || r.Err() == nil {
			w.t.Errorf("%+v, %v", r, err)
		}
		if f := r.Failed[0]; f.DocumentID.AsInt64() != 1 || f.Err == nil || f.ID.IsZero() {
			w.t.Errorf("%+v", f)
		}
	})
}

// A token with a condition that no longer holds is abandoned by the sweep.
func TestASweepChecksConditions(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 7))
		w.record(map[int]mongotest.Fault{1: requestLost, 2: requestLost})
		if _, err := w.UpdateOne(w.t.Context(), d("_id", 1, "n", d("$gte", 5)), d("$inc", d("n", -5))); err == nil {
			w.t.Fatal("no error")
		}
		if _, err := w.plain.UpdateOne(w.t.Context(), one, d("$set", d("n", 1))); err != nil {
			w.t.Fatal(err)
		}
		<-time.After(time.Minute)
		if r := w.sweep(w.t.Context()); r.Abandoned != 1 || r.Applied != 0 {
			w.t.Errorf("%+v", r)
		}
		w.expect("after the sweep", 1, 0)
	})
}

// Tokens that are damaged are reported, and end nothing.
func TestASweepOfDamagedTokens(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		old := bson.NewDateTimeFromTime(time.Now().Add(-time.Hour))
		for i, update := range []any{bson.Binary{Data: []byte{1, 2}}, bson.Binary{Data: []byte{5, 0, 0, 0, 0}}} {
			token := d("id", bson.NewObjectID(), "at", old, "update", update)
			w.insert(d("_id", i, "_once", d("pending", bson.A{token, "text"})))
		}
		r := w.sweep(w.t.Context())
		if r.Tokens != 2 || r.Failures != 2 {
			w.t.Errorf("%+v", r)
		}
	})
}

// A document may have old and young tokens, and be deleted while the sweep runs. A sweep that begins again counts no token twice.
func TestASweepOfWhatChanges(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.abandonAll(2, increment)
		<-time.After(time.Hour)
		w.abandonAll(2, increment)
		if r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Minute}); err != nil || r.Tokens != 2 || r.Applied != 2 {
			w.t.Errorf("old and young: %+v, %v", r, err)
		}
		<-time.After(time.Hour)
		w.server.Use("update", mongotest.FaultOnce(mongotest.Fault{Before: func() {
			if _, err := w.server.Command(0, "app", d("delete", "counters", "deletes", bson.A{d("q", d("_id", 0), "limit", 1)})); err != nil {
				w.t.Error(err)
			}
		}}))
		if r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Minute}); err != nil || r.Tokens != 2 || r.Failures != 0 {
			w.t.Errorf("a deleted document: %+v, %v", r, err)
		}
	})
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 0, "n", "text"))
		w.abandonAll(3, increment)
		<-time.After(time.Hour)
		w.server.Use("getMore", mongotest.FaultOnce(requestLost))
		r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Minute, BatchSize: 1})
		if err != nil || r.Tokens != 3 || r.Applied != 2 || r.Failures != 1 {
			w.t.Errorf("a lost cursor: %+v, %v", r, err)
		}
	})
}

// A sweep that is cancelled counts the update that it is making then, if the server answers soon.
func TestACancelledSweepCountsItsLastUpdate(t *testing.T) {
	const all, before = 5, 2
	for name, c := range map[string]struct {
		fault   mongotest.Fault
		applied int64
		tokens  int64 // one whose outcome is not known is not counted
		took    time.Duration
	}{
		"the server answers":      {mongotest.Fault{Delay: time.Second}, before + 1, before + 1, time.Second},
		"the server does not":     {mongotest.Fault{Delay: time.Hour}, before, before, 2 * time.Second},
		"the document refuses it": {mongotest.Fault{Error: &mongotest.CommandError{Code: 14, Message: "no number"}}, before, before + 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, once.Options{}, func(w *world) {
				w.abandonAll(all, increment)
				<-time.After(2 * time.Hour)
				ctx, cancel := context.WithCancelCause(w.t.Context())
				leaving := errors.New("leaving")
				var cancelled time.Time
				c.fault.Before = func() {
					cancelled = time.Now()
					cancel(leaving)
				}
				seen := 0
				w.server.Use("update", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					if seen++; seen == before+1 {
						return c.fault
					}
					return mongotest.Fault{}
				}))
				r, err := w.Sweep(ctx, once.SweepOptions{OlderThan: time.Hour})
				if !errors.Is(err, leaving) || r.Applied != c.applied || r.Tokens != c.tokens || time.Since(cancelled).Round(time.Second) != c.took {
					w.t.Errorf("%+v, %v, %v after the cancellation", r, err, time.Since(cancelled))
				}
			})
		})
	}
}
