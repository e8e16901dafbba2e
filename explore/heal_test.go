package explore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/explore"
	search "github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// addQuickly adds one to the counter, and gives up after a second. No matter whether it is done, the check finds a cluster as it was.
func addQuickly(e *explore.Exploration, check func() error) {
	client := connect(e)
	ctx, cancel := context.WithTimeout(e.Context(), time.Second)
	defer cancel()
	e.Logf("add returned %v", add(ctx, client))
	e.Check(check)
}

func TestACheckHasAPrimary(t *testing.T) {
	explore.Run(t, func(e *explore.Exploration) {
		addQuickly(e, func() error {
			if e.Deployment().Primary() < 0 {
				e.Errorf("there is no primary")
			}
			return nil
		})
	}, explore.InMemory())
}

// A message that the program has given up may still be executed when the failures end.
func TestACheckFollowsTheMessagesThatGoOn(t *testing.T) {
	report, text := explore.Report(t, "", func(e *explore.Exploration) {
		addQuickly(e, func() error { return has(e.Context(), connect(e), 1) })
	}, own(func(s *explore.Strike) mongotest.Middleware {
		return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			<-s.Healed()
			<-time.After(time.Minute) // longer than clients have to see that the failures ended
			return next(r)
		}
	})...)
	if report.Count(search.Held) != 1 {
		t.Error(text)
	}
}

// A consumer may wait for the next change while the check is made, however long its wait lasts.
func TestACheckDoesNotWaitForAConsumer(t *testing.T) {
	explore.Run(t, func(e *explore.Exploration) {
		client := connect(e)
		stream, err := counters(client).Watch(e.Context(), mongo.Pipeline{}, options.ChangeStream().SetMaxAwaitTime(24*time.Hour))
		if err != nil {
			e.Fatalf("watch: %v", err)
		}
		ctx, cancel := context.WithCancel(e.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for stream.Next(ctx) {
			}
			_ = stream.Close(context.Background())
		}()
		e.Cleanup(func() { <-ended })
		e.Cleanup(cancel)
		e.Logf("add returned %v", add(e.Context(), client))
		e.Check(func() error { return nil })
	}, explore.InMemory(), explore.Failures(explore.ReplyLost), explore.Messages(func(m explore.Message) bool { return m.Command == "update" }))
}

// An outage ends also if the program does not check.
func TestAnOutageEndsInTime(t *testing.T) {
	explore.Run(t, func(e *explore.Exploration) {
		client := connect(e)
		e.Logf("add returned %v", add(e.Context(), client))
		<-time.After(5 * time.Minute)
		all := options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: 3})
		ctx, cancel := context.WithTimeout(e.Context(), time.Minute)
		defer cancel()
		if _, err := client.Database("shop").Collection("orders", all).InsertOne(ctx, bson.D{}); err != nil {
			e.Errorf("a member is not back: %v", err)
		}
	}, explore.InMemory(), explore.Messages(func(m explore.Message) bool { return m.Command == "update" }),
		explore.Failures(explore.Partitioned, explore.KilledBefore, explore.KilledDuring, explore.KilledAfter))
}

// The story does not say that data were changed if that was rolled back.
func TestAChangeThatIsRolledBackIsTold(t *testing.T) {
	report, text := explore.Report(t, "update/shop.counters/1:killed-during", addOnce, explore.InMemory())
	if len(report.Outcomes) != 1 || len(report.Outcomes[0].Events) == 0 {
		t.Fatal(text)
	}
	if e := report.Outcomes[0].Events[0]; e.Changed || !e.Struck || !strings.HasSuffix(e.Words, "rolled back later") {
		t.Errorf("%+v", e)
	}
}
