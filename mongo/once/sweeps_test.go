package once_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A sweep that is cancelled at any of its messages has counted what it did, and the next sweep does the rest.
func TestACancelledSweep(t *testing.T) {
	const documents = 3
	for message := range documents {
		inWorld(t, once.Options{}, func(w *world) {
			w.abandonAll(documents, increment)
			<-time.After(time.Minute)
			ctx, cancel := context.WithCancelCause(w.t.Context())
			coll, err := once.New(leaving{w.plain, func() {
				if message--; message < 0 {
					cancel(errors.New("interrupted"))
				}
			}}, once.Options{})
			if err != nil {
				w.t.Fatal(err)
			}
			want := int64(message + 1)
			r, err := coll.Sweep(ctx, once.SweepOptions{OlderThan: 1})
			if !errors.Is(err, context.Canceled) || err.Error() == "" || r.Applied != want || r.Tokens != want || r.Documents != want {
				w.t.Errorf("%+v, %v; want %d applied", r, err, want)
			}
			if rest := w.sweep(w.t.Context()); rest.Applied != documents-want {
				w.t.Errorf("the rest: %+v", rest)
			}
			if n := w.total(); n != documents {
				w.t.Errorf("the sum is %d, want %d", n, documents)
			}
		})
	}
}

// The documents that a sweep meets have changed since it read them: none of the tokens that are gone is counted as applied or as pending.
func TestASweepOfTokensThatAreGone(t *testing.T) {
	for name, change := range map[string]bson.D{
		"deleted":  d("delete", "counters", "deletes", bson.A{d("q", d("_id", 1), "limit", 1)}),
		"replaced": d("update", "counters", "updates", bson.A{d("q", d("_id", 1), "u", d("n", 0))}),
	} {
		inWorld(t, once.Options{}, func(w *world) {
			w.abandonAll(3, increment)
			<-time.After(time.Minute)
			w.server.Use("update", mongotest.FaultOnce(mongotest.Fault{Before: func() {
				if _, err := w.server.Command(0, "app", change); err != nil {
					w.t.Error(err)
				}
			}}))
			r := w.sweep(w.t.Context())
			if r.Tokens != 3 || r.Applied != 2 || r.Gone != 1 || r.Failures != 0 || r.Err() != nil {
				w.t.Errorf("%s: %+v", name, r)
			}
		})
	}
}

// An error that is not of one document ends the sweep: the next document would meet it too. The result says what was done before.
func TestWhatEndsASweep(t *testing.T) {
	refused := mongotest.Fault{Error: &mongotest.CommandError{Code: 10107, Message: "not the primary"}}
	for name, fault := range map[string]mongotest.Fault{"lost requests": requestLost, "not the primary": refused, "silence": {LoseReply: true, Silent: true}} {
		inWorld(t, once.Options{}, func(w *world) {
			w.abandonAll(5, increment)
			<-time.After(time.Minute)
			var updates atomic.Int32 // a reply that does not come orders nothing
			w.server.Use("update", mongotest.While(func(*mongotest.Request) bool { return updates.Add(1) > 2 }, fault))
			r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: 1})
			if err == nil || r.Applied != 2 || r.Tokens != 2 || r.Failures != 0 || updates.Load() > 2+4 {
				w.t.Errorf("%s: %+v, %v after %d updates", name, r, err, updates.Load())
			}
		}, func(o *options.ClientOptions) { o.SetTimeout(time.Second) })
	}
	inWorld(t, once.Options{}, func(w *world) {
		w.abandonAll(5, increment)
		<-time.After(time.Minute)
		w.server.Use("update", mongotest.FaultOnce(mongotest.Fault{Before: func() { w.server.Kill(0) }, LoseRequest: true}))
		began := time.Now()
		r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: 1})
		if took := time.Since(began); err == nil || r.Tokens != 0 || took > 2*time.Minute {
			w.t.Errorf("a dead server: %+v, %v after %v", r, err, took)
		}
	})
	inWorld(t, once.Options{}, func(w *world) {
		w.abandonAll(5, increment)
		<-time.After(time.Minute)
		unacknowledged := w.plain.Clone(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		coll, err := once.New(unacknowledged, once.Options{})
		if err != nil {
			w.t.Fatal(err)
		}
		if r, err := coll.Sweep(w.t.Context(), once.SweepOptions{OlderThan: 1}); err == nil || r.Tokens != 0 {
			w.t.Errorf("an unacknowledged write concern: %+v, %v", r, err)
		}
	})
}

// A find that is refused is the error of the sweep.
func TestASweepThatMayNotRead(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.abandonAll(1, increment)
		<-time.After(time.Minute)
		w.server.Use("find", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}}))
		if r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: 1}); err == nil || r.Tokens != 0 {
			w.t.Errorf("%+v, %v", r, err)
		}
	})
}

// Two sweeps beside clients that go on: each update is applied once, also those that a sweep finishes for a client that lives.
func TestSweepsBesideClients(t *testing.T) {
	const clients, updates = 4, 25
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 1, "n", 0))
		var working, sweeping sync.WaitGroup
		stop := make(chan struct{})
		for range 2 {
			sweeping.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						w.sweep(context.Background())
					}
				}
			})
		}
		slow := mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if isSecondStep(r) {
				return mongotest.Fault{Delay: 3 * time.Millisecond}
			}
			return mongotest.Fault{}
		})
		defer w.server.Use("update", slow)()
		for range clients {
			working.Go(func() {
				for range updates {
					if r, err := w.UpdateOne(w.t.Context(), one, increment); err != nil || r.MatchedCount != 1 {
						w.t.Errorf("%+v, %v", r, err)
					}
				}
			})
		}
		working.Wait()
		close(stop)
		sweeping.Wait()
		w.expect("in the end", clients*updates, 0)
	})
}

// Oldest is the time of the oldest of all old tokens, whatever their order.
func TestTheOldestToken(t *testing.T) {
	for _, ages := range [][]time.Duration{{time.Hour, 3 * time.Hour, 2 * time.Hour}, {3 * time.Hour, time.Hour}, {time.Second}} {
		inWorld(t, once.Options{}, func(w *world) {
			now := time.Now().UTC().Truncate(time.Millisecond)
			for i, age := range ages {
				w.insert(d("_id", i, "_once", d("pending", bson.A{d("id", bson.NewObjectID(), "at", now.Add(-age), "update", []byte{1})})))
			}
			r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Minute, ReportOnly: true})
			want := now.Add(-slices.Max(ages))
			if ages[0] == time.Second {
				want = time.Time{}
			}
			if err != nil || !r.Oldest.Equal(want) {
				w.t.Errorf("%v: %v, %v; want %v", ages, r.Oldest, err, want)
			}
		})
	}
}

// BatchSize is what the find and the getMores ask for, and progress is told after each document.
func TestTheBatchesOfASweep(t *testing.T) {
	for size, wantMores := range map[int32]int{0: 0, 2: 3} {
		inWorld(t, once.Options{}, func(w *world) {
			w.abandonAll(6, increment)
			<-time.After(time.Minute)
			mores := 0
			w.server.Use("getMore", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				if mores++; r.Body.Lookup("batchSize").AsInt64() != int64(size) {
					w.t.Errorf("a getMore asks for %v", r.Body.Lookup("batchSize"))
				}
				return mongotest.Fault{}
			}))
			var told []int64
			o := once.SweepOptions{OlderThan: 1, BatchSize: size, Progress: func(r once.SweepResult) { told = append(told, r.Applied) }}
			if _, err := w.Sweep(w.t.Context(), o); err != nil {
				w.t.Fatal(err)
			}
			if mores < wantMores || mores > wantMores+1 || !slices.Equal(told, []int64{1, 2, 3, 4, 5, 6}) {
				w.t.Errorf("size %d: %d getMores, progress %v", size, mores, told)
			}
		})
	}
}

// Ages are by the clock of the sweep. The clock of a client that is wrong does no harm: its token is finished earlier, or later.
func TestClocksThatDisagree(t *testing.T) {
	for _, wrong := range []time.Duration{-time.Hour, time.Hour} {
		inWorld(t, once.Options{}, func(w *world) {
			w.insert(d("_id", 1, "n", 0))
			w.record(map[int]mongotest.Fault{0: {After: func() {
				at := bson.NewDateTimeFromTime(time.Now().Add(wrong))
				w.command(d("q", one, "u", d("$set", d("_once.pending.0.at", at))))
				r, err := w.Sweep(context.Background(), once.SweepOptions{OlderThan: time.Minute})
				if err != nil || (r.Applied == 1) != (wrong < 0) {
					w.t.Errorf("%v: %+v, %v", wrong, r, err)
				}
			}}})
			if r, err := w.UpdateOne(w.t.Context(), one, increment); err != nil || r.MatchedCount != 1 {
				w.t.Errorf("%v: %+v, %v", wrong, r, err)
			}
			w.expect(fmt.Sprint(wrong), 1, 0)
		})
	}
}

// A token exactly as old as the age is not older.
func TestTheAgeOfAToken(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.abandonAll(1, increment)
		<-time.After(time.Minute)
		age := time.Since(w.sweepReport(1).Oldest)
		for older, want := range map[time.Duration]int64{age: 0, age - time.Millisecond: 1} {
			if r := w.sweepReport(older); r.Tokens != want {
				w.t.Errorf("older than %v, a token of %v: %+v", older, age, r)
			}
		}
	})
}

func (w *world) sweepReport(older time.Duration) once.SweepResult {
	w.t.Helper()
	r, err := w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: older, ReportOnly: true})
	if err != nil {
		w.t.Error(err)
	}
	return r
}

// Of more than 1,000 failed tokens the result keeps 1,000, and the number of all.
func TestManyFailedTokens(t *testing.T) {
	const tokens = 1003
	inWorld(t, once.Options{}, func(w *world) {
		var list bson.A
		old := bson.NewDateTimeFromTime(time.Now().Add(-time.Hour))
		for range tokens {
			list = append(list, d("id", bson.NewObjectID(), "at", old, "update", []byte{1}))
		}
		w.insert(d("_id", 1, "_once", d("pending", list)))
		r := w.sweep(w.t.Context())
		if r.Tokens != tokens || r.Failures != tokens || len(r.Failed) != 1000 || r.Documents != 1 {
			w.t.Errorf("%d tokens in %d documents, %d failures, %d of them kept", r.Tokens, r.Documents, r.Failures, len(r.Failed))
		}
	})
}

// A sweep that begins again counts each document once, also if it had dealt with one of its tokens only.
func TestASweepBeginsAgainWithinADocument(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		w.insert(d("_id", 0, "n", 0))
		end := w.server.Use("update", mongotest.While(isSecondStep, requestLost))
		for range 2 {
			if _, err := w.UpdateOne(w.t.Context(), d("_id", 0), increment); err == nil {
				w.t.Fatal("the second step was not lost")
			}
		}
		end()
		<-time.After(time.Minute)
		w.record(map[int]mongotest.Fault{1: requestLost, 2: requestLost})
		if r := w.sweep(w.t.Context()); r.Documents != 1 || r.Tokens != 2 || r.Applied != 2 {
			w.t.Errorf("%+v", r)
		}
		if n := w.n(); n != 2 {
			w.t.Errorf("n is %d, want 2", n)
		}
	})
}
