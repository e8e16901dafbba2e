package situations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// watched is a change stream with what a program remembers of it.
type watched struct {
	*world
	*mongo.ChangeStream
	tokens []string // those that the steps saw, each once
}

// streamStep is what a program does with a change stream, or with the data that it watches. It returns what the program sees.
type streamStep struct {
	name string
	do   func(context.Context, *watched) any
}

// stepLimit is the time that a step has. Without it Next would wait for ever on a stream without events: on the fake clock the official
// client's monitors and getMores let the time pass without an end. It does not end together with a getMore, which awaits events for a second.
const stepLimit = 3070 * time.Millisecond

func (s streamStep) guarded(ctx context.Context, w *watched) (seen any) {
	defer func() {
		if p := recover(); p != nil {
			seen = fmt.Sprintf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	return s.do(ctx, w)
}

// play does all steps, and returns what they saw.
func (w *watched) play(ctx context.Context, steps []streamStep) []string {
	var seen []string
	for _, s := range steps {
		seen = append(seen, oneLine(fmt.Sprintf("%s: %v", s.name, s.guarded(ctx, w))))
	}
	return seen
}

// moved returns all that a call of Next or TryNext shows.
func (w *watched) moved(has bool) any {
	seen := fmt.Sprintf("%t, %s, %s", has, describe(w.Err()), w.newToken())
	if has {
		seen += ", " + show(w.Current)
	}
	return seen
}

// newToken returns the resume token's number in the order in which the steps saw the tokens, and whether it is that of the current event.
func (w *watched) newToken() string {
	token := w.ResumeToken()
	if token == nil {
		return "no token"
	}
	number := -1
	for i, known := range w.tokens {
		if known == string(token) {
			number = i
		}
	}
	if number < 0 {
		number = len(w.tokens)
		w.tokens = append(w.tokens, string(token))
	}
	if id, ok := w.Current.Lookup("_id").DocumentOK(); ok && string(id) == string(token) {
		return fmt.Sprintf("token %d, the event's", number)
	}
	return fmt.Sprintf("token %d", number)
}

// The steps that move the stream.
var (
	moves     = streamStep{"Next", func(ctx context.Context, w *watched) any { return w.moved(w.Next(ctx)) }}
	tries     = streamStep{"TryNext", func(ctx context.Context, w *watched) any { return w.moved(w.TryNext(ctx)) }}
	movesNil  = streamStep{"Next with a nil context", func(_ context.Context, w *watched) any { return w.moved(w.Next(nil)) }}       //nolint:staticcheck // nil is tested
	triesNil  = streamStep{"TryNext with a nil context", func(_ context.Context, w *watched) any { return w.moved(w.TryNext(nil)) }} //nolint:staticcheck // nil is tested
	movesLate = streamStep{"Next with a cancelled context", func(ctx context.Context, w *watched) any { return w.moved(w.Next(cancelled(ctx))) }}
	triesLate = streamStep{"TryNext with a cancelled context", func(ctx context.Context, w *watched) any { return w.moved(w.TryNext(cancelled(ctx))) }}
	movesPast = streamStep{"Next with a deadline in the past", func(ctx context.Context, w *watched) any {
		ctx, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
		defer cancel()
		return w.moved(w.Next(ctx))
	}}
	movesShort = streamStep{"Next for 100 ms", func(ctx context.Context, w *watched) any {
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		return w.moved(w.Next(ctx))
	}}
	movesUntilCancelled = streamStep{"Next until it is cancelled", func(ctx context.Context, w *watched) any {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(1500*time.Millisecond, cancel).Stop()
		return w.moved(w.Next(ctx))
	}}
	movesWithEvent = streamStep{"Next while an event comes", func(ctx context.Context, w *watched) any {
		defer time.AfterFunc(1500*time.Millisecond, func() { _ = w.set.Insert("db.c", bson.D{{Key: "_id", Value: "late"}}) }).Stop()
		return w.moved(w.Next(ctx))
	}}
)

// The steps that ask the stream.
var (
	asksErr       = streamStep{"Err", func(_ context.Context, w *watched) any { return describe(w.Err()) }}
	asksID        = streamStep{"ID", func(_ context.Context, w *watched) any { return w.ID() != 0 }}
	asksToken     = streamStep{"ResumeToken", func(_ context.Context, w *watched) any { return w.newToken() }}
	asksLength    = streamStep{"RemainingBatchLength", func(_ context.Context, w *watched) any { return w.RemainingBatchLength() }}
	asksCurrent   = streamStep{"Current", func(_ context.Context, w *watched) any { return show(w.Current) }}
	decodesEvent  = decodesTo("Decode", func() any { return new(bson.D) })
	closesStream  = streamStep{"Close", func(ctx context.Context, w *watched) any { return describe(w.Close(ctx)) }}
	closesUnset   = streamStep{"Close with a nil context", func(_ context.Context, w *watched) any { return describe(w.Close(nil)) }} //nolint:staticcheck // nil is tested
	closesLate    = streamStep{"Close with a cancelled context", func(ctx context.Context, w *watched) any { return describe(w.Close(cancelled(ctx))) }}
	setsBatchSize = func(n int32) streamStep {
		return streamStep{fmt.Sprintf("SetBatchSize %d", n), func(_ context.Context, w *watched) any {
			w.SetBatchSize(n)
			return nil
		}}
	}
)

func decodesTo(name string, target func() any) streamStep {
	return streamStep{name, func(_ context.Context, w *watched) any {
		to := target()
		err := w.Decode(to)
		return strings.Join([]string{oneLine(printed(to)), describe(err)}, "; ")
	}}
}

// changes is a step that changes the data by the client's own methods.
func changes(name string, do func(context.Context, *world) error) streamStep {
	return streamStep{name, func(ctx context.Context, w *watched) any { return describe(do(ctx, w.world)) }}
}

// started are the steps after which the official stream has returned its empty first batch: its first TryNext does not ask the server.
var started = []streamStep{inserts(9), moves}

func afterStart(steps ...streamStep) []streamStep { return slices.Concat(started, steps) }

// inserts is a step that inserts documents with these _ids.
func inserts(ids ...any) streamStep {
	return streamStep{fmt.Sprintf("insert %v", ids), func(_ context.Context, w *watched) any {
		for _, id := range ids {
			if err := w.set.Insert("db.c", bson.D{{Key: "_id", Value: id}}); err != nil {
				return err
			}
		}
		return nil
	}}
}
