package situations

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// pause is how long a server that always fails thinks. Without it no time would pass on the fake clock, and the steps' limit would not come.
const pause = 100 * time.Millisecond

// failure is how a server fails.
type failure struct {
	name  string
	fault mongotest.Fault
}

// always is the number of commands that fail if all do.
const always = 0

// fails is a step after which the server fails commands.
func fails(command string, times int, f failure) streamStep {
	name := fmt.Sprintf("%s fails %d times with %s", command, times, f.name)
	if times == always {
		name = fmt.Sprintf("%s always fails with %s", command, f.name)
	}
	return streamStep{name, func(_ context.Context, w *watched) any {
		fault := f.fault
		if times != always {
			w.set.Use(command, mongotest.Times(times, fault))
			return nil
		}
		fault.Delay = pause
		w.set.Use(command, mongotest.Always(fault))
		return nil
	}}
}

func refusal(name string, code int32, labels ...string) failure {
	if labels == nil {
		labels = []string{}
	}
	return failure{name, mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "scripted", Labels: labels}}}
}

const resumableLabel = "ResumableChangeStreamError"

var (
	cursorNotFound = refusal("CursorNotFound", 43)
	losesCursor    = fails("getMore", 1, cursorNotFound)
	failures       = []failure{
		cursorNotFound,
		refusal("a resumable error", 6, resumableLabel),
		refusal("an error of a step-down that is resumable", 10107, resumableLabel),
		refusal("an error of a step-down without a label", 10107),
		refusal("an error with a label that does not fit", 13, resumableLabel),
		refusal("Unauthorized", 13),
		refusal("MaxTimeMSExpired", 50),
		refusal("CursorKilled", 237),
		refusal("ChangeStreamFatalError", 280, "NonResumableChangeStreamError"),
		refusal("ChangeStreamHistoryLost", 286, "NonResumableChangeStreamError"),
		refusal("overload", 462, "SystemOverloadedError", "RetryableError"),
		refusal("overload that is not retryable", 462, "SystemOverloadedError"),
		refusal("overload that is resumable", 462, "SystemOverloadedError", "RetryableError", resumableLabel),
		{"a reply that is lost", mongotest.Fault{LoseReply: true}},
		{"a request that is lost", mongotest.Fault{LoseRequest: true}},
		{"silence", mongotest.Fault{LoseRequest: true, Silent: true}},
	}
)

// streamFailures have a server that fails getMore, and the command that resumes.
func streamFailures() []streaming {
	var list []streaming
	add := func(steps ...streamStep) {
		list = append(list,
			streaming{name: "a server that fails", steps: append(steps[:len(steps):len(steps)], moves, asksErr, asksID, asksToken, moves, asksErr, closesStream)},
			streaming{name: "a server that fails", steps: append(afterStart(steps...), tries, tries, asksErr, asksID, tries, closesStream)})
	}
	for _, f := range failures {
		for _, times := range []int{1, 3, always} {
			add(fails("getMore", times, f), inserts(10, 11))
			add(losesCursor, fails("aggregate", times, f), inserts(10, 11))
		}
		add(losesCursor, fails("killCursors", always, f), inserts(10, 11))
		list = append(list, streaming{name: "a server that fails", steps: []streamStep{fails("killCursors", always, f), closesStream, asksErr, closesStream}})
	}
	return append(list, oddReplies()...)
}

// answers is a step after which the server answers getMore with a document of the test's.
func answers(name string, reply func(w *watched) bson.D) streamStep {
	return streamStep{"getMore is answered with " + name, func(_ context.Context, w *watched) any {
		w.set.Use("getMore", mongotest.Always(mongotest.Fault{Delay: pause}))
		w.set.Use("getMore", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply { return mongotest.NewReply(reply(w)) })
		return nil
	}}
}

// oddReplies are answers of a getMore that are not as they should be.
func oddReplies() []streaming {
	batch := func(id func(*watched) int64, batch ...any) func(*watched) bson.D {
		return func(w *watched) bson.D {
			return bson.D{{Key: "cursor", Value: bson.D{{Key: "id", Value: id(w)}, {Key: "ns", Value: "db.c"}, {Key: "nextBatch", Value: append(bson.A{}, batch...)}}}}
		}
	}
	same := func(w *watched) int64 { return w.ID() }
	gone := func(*watched) int64 { return 0 }
	event := bson.D{{Key: "_id", Value: bson.D{{Key: "_data", Value: "AB"}}}, {Key: "operationType", Value: "fantasy"}}
	fragment := func(n int32) bson.D {
		return bson.D{
			{Key: "_id", Value: bson.D{{Key: "_data", Value: "AB"}, {Key: "fragmentNum", Value: n - 1}}},
			{Key: "splitEvent", Value: bson.D{{Key: "fragment", Value: n}, {Key: "of", Value: int32(2)}}},
		}
	}
	var list []streaming
	for _, answer := range []streamStep{
		answers("an event of a new kind", batch(same, event)),
		answers("the fragments of a split event", batch(same, fragment(1), fragment(2))),
		answers("an event, and the cursor is closed", batch(gone, event)),
		answers("no event, and the cursor is closed", batch(gone)),
		answers("an event without a token", batch(same, bson.D{{Key: "operationType", Value: "insert"}})),
		answers("an event whose token is a number", batch(same, bson.D{{Key: "_id", Value: 7}})),
		answers("an event whose token is null", batch(same, event, bson.D{{Key: "_id", Value: nil}}, event)),
		answers("an event whose token is empty", batch(same, bson.D{{Key: "_id", Value: bson.D{}}})),
		answers("an empty event", batch(same, bson.D{})),
		answers("a number for an event", batch(same, 7)),
		answers("nothing", func(*watched) bson.D { return bson.D{} }),
		answers("a cursor that is a number", func(*watched) bson.D { return bson.D{{Key: "cursor", Value: 7}} }),
	} {
		list = append(list,
			streaming{name: "an odd server", steps: afterStart(answer, tries, tries, asksErr, asksID, closesStream, asksErr)},
			streaming{name: "an odd server", steps: []streamStep{answer, moves, decodesEvent, asksLength, asksErr, asksToken}})
	}
	return list
}
