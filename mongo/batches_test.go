package mongo

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

func twoStatements(ctx context.Context) *batches {
	b := newBatches(ctx, &Collection{}, true)
	b.statements = []statement{{kind: updateOneKind, model: 0}, {kind: updateOneKind, model: 1}}
	b.request = func(int) WriteModel { return &UpdateOneModel{} }
	return b
}

// The index of a write error comes from a reply, so it may have any value.
func TestAWriteErrorWithAnInvalidIndexIsRefused(t *testing.T) {
	for _, index := range []int{-1, 2, 1 << 30} {
		b := twoStatements(t.Context())
		refused := BulkWriteException{WriteErrors: []BulkWriteError{{WriteError: WriteError{Index: index, Code: 11000}}}}
		goOn, err := b.note(refused, 0, 2)
		var e BulkWriteException
		if goOn || !errors.As(err, &e) || len(b.problems.WriteErrors) != 1 || b.problems.WriteErrors[0].Request != nil {
			t.Errorf("index %d: %t, %v", index, goOn, err)
		}
	}
}

func TestAnUpsertedIDWithAnInvalidIndexIsRefused(t *testing.T) {
	for index, valid := range map[int]bool{-1: false, 0: true, 1: true, 2: false, 1 << 30: false} {
		body, err := bson.Marshal(bson.D{{Key: "ok", Value: 1}, {Key: "upserted", Value: bson.A{
			bson.D{{Key: "index", Value: index}, {Key: "_id", Value: "x"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		var reply operation.Reply
		if err := reply.Parse(body); err != nil {
			t.Fatal(err)
		}
		if err := twoStatements(t.Context()).command(0, 2).Accept(&reply); (err == nil) != valid {
			t.Errorf("index %d: %v", index, err)
		}
	}
}

// Each command may fail with labels of its own, and an application asks the one error for all of them.
func TestTheLabelsOfAllCommandsAreInTheError(t *testing.T) {
	b := twoStatements(t.Context())
	b.ordered = false
	for i, label := range []string{"A", "B"} {
		failed := BulkWriteException{WriteConcernError: &WriteConcernError{Code: 64}, Labels: []string{label}}
		if goOn, err := b.note(failed, i, i+1); !goOn || err != nil {
			t.Errorf("command %d: %t, %v", i, goOn, err)
		}
	}
	if e := b.problems; !e.HasErrorLabel("A") || !e.HasErrorLabel("B") {
		t.Errorf("the labels are %q", e.Labels)
	}
}

// The optional fields of a command, for example its comment, are a part of its message.
func TestTheOptionalFieldsTakeRoomFromTheStatements(t *testing.T) {
	b := twoStatements(t.Context())
	b.statements[0].end, b.statements[1].end = 100, 200
	b.extras["update"], b.ending.added = make([]byte, 4000), make([]byte, 1000)
	l := limits{bytes: messageMargin + 5000 + 200, count: 10, document: 1000}
	if end := b.next(0, l); end != 2 {
		t.Errorf("a command with room for two statements has %d", end)
	}
	l.bytes--
	if end := b.next(0, l); end != 1 {
		t.Errorf("a command that lacks a byte for two statements has %d", end)
	}
}

// One large operation must not hold its memory for as long as the process lives: only other large ones get it.
func TestSmallOperationsDoNotGetTheMemoryOfALargeOne(t *testing.T) {
	large := newScratch()
	large.b = make([]byte, keptScratch+1)
	large.release()
	if newScratch() == large {
		t.Errorf("a buffer of %d bytes was kept", cap(large.b))
	}
	b := newBatches(t.Context(), &Collection{}, true)
	b.makeRoom(keptStatements + 1)
	list := b.list
	b.release()
	if statementLists.Get().(*[]statement) == list {
		t.Errorf("a list of %d statements was kept", cap(b.statements))
	}
}
