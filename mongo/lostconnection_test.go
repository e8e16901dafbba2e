package mongo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// monitoring are the two ways in which a client learns of its servers.
var monitoring = map[string]func(*options.ClientOptions){"streaming": nil, "polling": poll}

// latency is that of a message in each direction.
const latency = 200 * time.Microsecond

// On a healthy set one lost reply costs a retry nothing but messages: those of two handshakes and its own.
func TestARetryAfterOneLostReplyDoesNotWait(t *testing.T) {
	var took []time.Duration
	for name, configure := range monitoring {
		in(t, configure, func(w *world) {
			w.seed()
			random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // a test that repeats needs no secret
			for i := range 50 {
				w.pass(500*time.Millisecond + time.Duration(random.Int64N(int64(2500*time.Millisecond))))
				began := time.Now()
				w.must(w.loses(w.ctx, i))
				took = append(took, time.Since(began))
				if last := took[len(took)-1]; last > 5*time.Millisecond {
					t.Errorf("%s: the operation took %v", name, last)
				}
			}
		}, mongotest.Latency(latency, latency))
	}
	slices.Sort(took)
	fmt.Printf("figure lost-connection-ms %.1f\n", took[len(took)/2].Seconds()*1000)
}

// loses makes a read or a write of which the first reply is lost.
func (w *world) loses(ctx context.Context, i int) error {
	command, do := "find", func() error { return w.coll.FindOne(ctx, doc("_id", 1)).Err() }
	if i%2 == 1 {
		command, do = "insert", func() error { _, err := w.coll.InsertOne(ctx, doc("n", i)); return err }
	}
	w.heal = w.set.Use(command, mongotest.FaultOnce(loseReply))
	defer w.heal()
	return do()
}

func TestAShortDeadlineIsEnoughForARetry(t *testing.T) {
	succeeded := 0
	for name, configure := range monitoring {
		for i := range 10 {
			in(t, configure, func(w *world) {
				w.seed()
				w.pass(time.Duration(i) * 100 * time.Millisecond)
				ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
				defer cancel()
				if err := w.loses(ctx, i); err != nil {
					t.Errorf("%s, %d: %v", name, i, err)
					return
				}
				succeeded++
			})
		}
	}
	fmt.Printf("figure short-deadline-succeeded %d\n", succeeded)
}
