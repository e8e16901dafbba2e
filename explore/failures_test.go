package explore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// witness is what a run leaves behind: the journal's entries of one command.
type witness struct {
	deployment *mongotest.Deployment
	of         []mongotest.Entry
	took       time.Duration
	err        error
	opened     int64
}

// applied returns how many entries changed data for good.
func (w *witness) applied() int {
	n := 0
	for _, e := range w.of {
		if e.Applied && !e.RolledBack {
			n++
		}
	}
	return n
}

func (w *witness) some(holds func(mongotest.Entry) bool) bool {
	return slices.ContainsFunc(w.of, holds)
}

func (w *witness) members() int {
	seen := make(map[int]bool)
	for _, e := range w.of {
		seen[e.Member] = true
	}
	return len(seen)
}

// update sends one message: an update.
func update(ctx context.Context, client *mongo.Client) error { return add(ctx, client) }

// unretried sends an update of many documents, which no driver sends again.
func unretried(ctx context.Context, client *mongo.Client) error {
	_, err := counters(client).UpdateMany(ctx, bson.D{}, plusOne, options.UpdateMany().SetUpsert(true))
	return err
}

// inTransaction sends an update in a transaction, and its commit.
func inTransaction(ctx context.Context, client *mongo.Client) error {
	s, err := client.StartSession()
	if err != nil {
		return err
	}
	defer s.EndSession(ctx)
	if err = s.StartTransaction(); err != nil {
		return err
	}
	if err = add(mongo.NewSessionContext(ctx, s), client); err != nil {
		return errors.Join(err, s.AbortTransaction(ctx))
	}
	return s.CommitTransaction(ctx)
}

// read reads three documents with two messages.
func read(ctx context.Context, client *mongo.Client) error {
	cursor, err := client.Database("shop").Collection("items").Find(ctx, bson.D{}, options.Find().SetBatchSize(2))
	if err != nil {
		return err
	}
	return cursor.All(ctx, new([]bson.Raw))
}

func code(c int32) func(mongotest.Entry) bool {
	return func(e mongotest.Entry) bool { return e.ErrorCode == c }
}

// Each failure is seen in the journal of the servers: it happened, and the client's rule for it followed.
func TestEachFailureHappens(t *testing.T) {
	deduplicated := func(e mongotest.Entry) bool { return e.Deduplicated }
	lostReply := func(w *witness) bool {
		return len(w.of) == 2 && w.of[0].Applied && w.of[0].ReplyLost && !w.of[0].Answered && w.of[1].Deduplicated
	}
	type row struct {
		failure explore.Failure
		program func(context.Context, *mongo.Client) error
		command string
		seen    func(*witness) bool
	}
	rows := []row{
		{explore.RequestLost, update, "update", func(w *witness) bool { return len(w.of) == 2 && w.of[0].RequestLost && w.of[1].Applied }},
		{explore.ReplyLost, update, "update", lostReply},
		{explore.HalfReply, update, "update", lostReply},
		{explore.LateRequest, update, "update", func(w *witness) bool {
			return len(w.of) == 2 && w.of[0].Applied && w.of[0].Answered && w.of[1].Deduplicated && w.of[1].ConnID < w.of[0].ConnID
		}},
		{explore.Silence, update, "update", func(w *witness) bool { return lostReply(w) && w.took >= 5*time.Minute }},
		{explore.PoolCleared, update, "update", func(w *witness) bool { return w.applied() == 1 && w.some(deduplicated) && w.opened > 1 }},
		{explore.StepDownBefore, update, "update", func(w *witness) bool { return w.some(code(10107)) && w.applied() == 1 && w.members() == 2 }},
		{explore.StepDownAfter, update, "update", func(w *witness) bool {
			return len(w.of) == 1 && w.applied() == 1 && w.deployment.Primary() != w.of[0].Member
		}},
		{explore.KilledBefore, update, "update", func(w *witness) bool { return w.applied() == 1 && w.of[len(w.of)-1].Term == 2 }},
		{explore.KilledDuring, update, "update", func(w *witness) bool { return w.of[0].RolledBack && w.applied() == 1 && w.members() == 2 }},
		{explore.KilledDuring, inTransaction, "update", func(w *witness) bool {
			return len(w.of) == 1 && w.of[0].RolledBack && w.err != nil && w.deployment.Term() == 2
		}},
		{explore.KilledDuring, unretried, "update", func(w *witness) bool {
			return len(w.of) == 1 && w.of[0].RolledBack && w.err != nil // also if the program ends before the election
		}},
		{explore.KilledAfter, update, "update", func(w *witness) bool {
			return w.applied() == 1 && !w.of[0].Answered && w.some(deduplicated) && w.members() == 2
		}},
		{explore.Partitioned, update, "update", func(w *witness) bool { return w.applied() == 1 && w.members() == 2 && w.took >= 10*time.Second }},
		{explore.CursorLost, read, "getMore", func(w *witness) bool { return w.some(code(43)) }},
		{explore.SessionExpired, inTransaction, "update", func(w *witness) bool { return len(w.of) > 0 && w.applied() == 0 }},
		{explore.Overload, update, "update", func(w *witness) bool { return w.some(code(462)) && w.applied() == 1 }},
		{explore.WriteConcernFailed(64), update, "update", func(w *witness) bool {
			var failed mongo.WriteException
			return len(w.of) == 1 && w.applied() == 1 && errors.As(w.err, &failed) && failed.WriteConcernError.Code == 64
		}},
		{explore.WriteConcernFailed(91), update, "update", func(w *witness) bool {
			return len(w.of) == 2 && w.of[0].Applied && w.of[0].Answered && w.of[1].Deduplicated && w.err == nil
		}},
		{explore.Refused(2), update, "update", func(w *witness) bool { return len(w.of) == 1 && w.of[0].ErrorCode == 2 }},
		{explore.Refused(112), inTransaction, "update", func(w *witness) bool { return w.some(code(112)) && w.applied() == 0 }},
	}
	for _, c := range []int32{6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436} {
		rows = append(rows, row{explore.Refused(c), update, "update", func(w *witness) bool { return len(w.of) == 2 && w.of[0].ErrorCode == c && w.applied() == 1 }})
	}
	rows = append(rows, row{explore.Refused(134), read, "find", func(w *witness) bool { return w.some(code(134)) && len(w.of) == 2 }})
	tested := make(map[string]bool)
	for _, r := range rows {
		tested[r.failure.Name] = true
		t.Run(r.failure.Name, func(t *testing.T) { happens(t, r.failure, r.program, r.command, r.seen) })
	}
	for _, f := range explore.All() {
		if !tested[f.Name] {
			t.Errorf("%s is not tested", f.Name)
		}
	}
}

// happens explores one failure, and wants the evidence of it in a run.
func happens(t *testing.T, f explore.Failure, program func(context.Context, *mongo.Client) error, command string, seen func(*witness) bool) {
	t.Helper()
	var all []string
	found := false
	explore.Run(t, func(e *explore.Exploration) {
		if err := e.Deployment().Insert("shop.items", bson.D{}, bson.D{}, bson.D{}); err != nil {
			e.Fatalf("%v", err)
		}
		client := connect(e)
		before := time.Now()
		err := program(e.Context(), client)
		w := witness{deployment: e.Deployment(), took: time.Since(before), err: err}
		e.Check(func() error { return nil })
		for _, entry := range w.deployment.Journal() {
			if entry.Command == command {
				w.of = append(w.of, entry)
				all = append(all, entry.String())
			}
		}
		w.opened = w.deployment.Counters().Opened
		all = append(all, fmt.Sprintf("took %v, opened %d", w.took, w.opened))
		found = found || len(w.of) > 0 && seen(&w)
	}, explore.InMemory(), explore.Failures(f), explore.Parallel(1))
	if !found {
		t.Errorf("no run shows %s:\n%v", f.Name, all)
	}
}
