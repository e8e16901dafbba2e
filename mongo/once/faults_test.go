package once_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// hazard is something that happens to a message.
type hazard string

const (
	noRequest hazard = "the request is lost"
	noReply   hazard = "the reply is lost"
	late      hazard = "the request is delayed beyond the end of the call"
	killed    hazard = "the server dies before it replies"
)

var hazards = []hazard{noRequest, noReply, late, killed}

// perils does hazards to messages, which are numbered over updates and finds.
type perils struct {
	*world
	at      map[int]hazard
	mu      sync.Mutex
	count   int
	delayed []bson.Raw // statements of updates
}

func (p *perils) decide(r *mongotest.Request) mongotest.Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at[p.count]
	p.count++
	die := func() {
		p.server.Kill(0)
		time.AfterFunc(time.Second, func() { p.server.Restart(0) })
	}
	switch h {
	case noRequest:
		return mongotest.Fault{LoseRequest: true}
	case noReply:
		return mongotest.Fault{LoseReply: true}
	case late:
		if statement, ok := r.Body.Lookup("updates", "0").DocumentOK(); ok {
			p.delayed = append(p.delayed, append(bson.Raw(nil), statement...))
		}
		return mongotest.Fault{LoseRequest: true}
	case killed:
		return mongotest.Fault{After: die, LoseReply: true}
	}
	return mongotest.Fault{}
}

// arrive lets the delayed messages come. An upsert that is finished is answered by a duplicate key.
func (p *perils) arrive(refused bool) {
	for _, statement := range p.delayed {
		_, err := p.server.Command(0, "app", d("update", "counters", "updates", bson.A{statement}))
		var answer *mongotest.CommandError
		if err != nil && !refused && (!errors.As(err, &answer) || answer.Code != 11000) {
			p.t.Errorf("a delayed message: %v", err)
		}
	}
}

// Every two hazards at any two messages of an update, its retries and its reads: the update is applied at most once, and what the caller was
// told is true, after sweeps, and after the arrival of delayed messages between them.
func TestEveryTwoHazards(t *testing.T) {
	for _, u := range hazardousUpdates {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			if runs := u.every(t, 2, 0, nil); runs < 30 {
				t.Errorf("only %d runs", runs)
			}
		})
	}
}

// every runs the update with the given hazards, and with up to so many more of each kind at each message from one on. It returns the number of runs.
func (u *hazardousUpdate) every(t *testing.T, more, from int, given map[int]hazard) (runs int) {
	t.Helper()
	messages := u.run(t, given)
	if more == 0 {
		return 1
	}
	for i := from; i < messages; i++ {
		for _, h := range hazards {
			at := maps.Clone(given)
			if at == nil {
				at = make(map[int]hazard)
			}
			at[i] = h
			runs += u.every(t, more-1, i+1, at)
		}
	}
	return runs + 1
}

type hazardousUpdate struct {
	name           string
	document       bson.D // nil: there is none
	filter, update any
	opts           *options.UpdateOneOptionsBuilder
	applied        int  // n after it was applied
	never          bool // it cannot be applied
}

var hazardousUpdates = []hazardousUpdate{
	{name: "a document that is there", document: d("_id", 1, "n", 0), filter: one, update: increment, opts: options.UpdateOne(), applied: 1},
	{name: "an upsert", filter: one, update: increment, opts: upsert, applied: 1},
	{name: "a pipeline", document: d("_id", 1, "n", 0), filter: one, update: bson.A{d("$set", d("n", d("$add", bson.A{"$n", 1})))}, opts: options.UpdateOne(), applied: 1},
	{name: "a condition that the update ends", document: d("_id", 1, "n", 0), filter: d("_id", 1, "n", 0), update: increment, opts: options.UpdateOne(), applied: 1},
	{name: "a condition that does not hold", document: d("_id", 1, "n", 0), filter: d("_id", 1, "n", 5), update: increment, opts: options.UpdateOne(), never: true},
	{name: "an update that is refused", document: d("_id", 1, "n", 0, "text", "x"), filter: one, update: d("$inc", d("n", 1, "text", 1)), opts: options.UpdateOne(), never: true},
}

// run makes the update, and returns how many messages it took.
func (u *hazardousUpdate) run(t *testing.T, at map[int]hazard) (messages int) {
	t.Helper()
	inWorld(t, once.Options{}, func(w *world) {
		if u.document != nil {
			w.insert(u.document)
		}
		p := &perils{world: w, at: at}
		ends := []func(){w.server.Use("update", mongotest.Decide(p.decide)), w.server.Use("find", mongotest.Decide(p.decide))}
		result, err := w.UpdateOne(w.t.Context(), u.filter, u.update, u.opts)
		for _, end := range ends {
			end()
		}
		for range 2 {
			<-time.After(time.Minute)
			w.sweep(w.t.Context())
			p.arrive(u.never)
		}
		<-time.After(time.Minute)
		swept := w.sweep(w.t.Context())
		n := w.n()
		told := fmt.Sprintf("%v: told %+v, %v; in the end n is %d", at, result, err, n)
		var failed *once.Error
		switch {
		case n != 0 && (n != u.applied || u.never):
			w.t.Errorf("applied more than once: %s", told)
		case err == nil && (result.MatchedCount+result.UpsertedCount == 1) != (n == 1):
			w.t.Errorf("the result is wrong: %s", told)
		case err != nil && !errors.As(err, &failed):
			w.t.Errorf("the error is of another type: %s", told)
		case err != nil && (failed.State == once.NotApplied && n != 0 || failed.State == once.Pending && n == 0 && !u.never):
			w.t.Errorf("the state is wrong: %s", told)
		case swept.Tokens > 0 && !u.never:
			w.t.Errorf("the third sweep found %+v: %s", swept, told)
		}
		messages = p.count
	})
	return messages
}

// n returns the counter's value, 0 without a document.
func (w *world) n() int {
	w.t.Helper()
	documents := w.server.ReadAll("app.counters")
	if len(documents) == 0 {
		return 0
	}
	n, _ := documents[0].Lookup("n").AsInt64OK()
	return int(n)
}
