package mongo

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

func TestTheBatchSizeOfAGetMoreIsAtMostTheRestOfTheLimit(t *testing.T) {
	for _, c := range []struct {
		remaining int64
		batchSize int32
		want      int32
	}{
		{0, 0, 0}, {0, 3, 3}, {2, 0, 2}, {2, 3, 2}, {3, 3, 3}, {4, 3, 3}, {-1, 3, 3}, {1 << 40, 0, math.MaxInt32},
	} {
		cursor := &Cursor{remaining: c.remaining, batchSize: c.batchSize}
		if got := cursor.nextBatchSize(); got != c.want {
			t.Errorf("%d remain, batches of %d: %d, want %d", c.remaining, c.batchSize, got, c.want)
		}
	}
}

func TestAGetMoreHasItsCommentSinceMongoDB44(t *testing.T) {
	for version, want := range map[int32]bool{8: false, 9: true} {
		cmd := &getMoreCommand{cursor: &Cursor{}}
		attempt := operation.Attempt{Server: &topology.Server{MaxWireVersion: version}}
		without, _ := cmd.AppendTo(nil, attempt)
		cmd.cursor.SetComment("why")
		with, err := cmd.AppendTo(nil, attempt)
		if err != nil || (len(with) > len(without)) != want {
			t.Errorf("wire version %d: %q (%v)", version, with, err)
		}
	}
}

func TestAGetMoreHasNoMaxTimeMS(t *testing.T) {
	onDatabase(t, func(f *fiveDocuments) {
		ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		c := f.mustOpen(nil)
		for c.Next(ctx) {
		}
		if v := f.sent[1].Lookup("maxTimeMS"); c.Err() != nil || !v.IsZero() {
			f.Errorf("maxTimeMS is %v (%v)", v, c.Err())
		}
	})
}

func TestAllClosesTheCursorOnItsServerAfterItsContextEnded(t *testing.T) {
	onDatabase(t, func(f *fiveDocuments) {
		ctx, cancel := context.WithCancel(f.Context())
		cancel()
		c := f.mustOpen(nil)
		if err := c.All(ctx, new([]any)); err == nil {
			f.Error("All succeeded")
		}
		if last := f.sent[len(f.sent)-1]; last.Lookup("killCursors").IsZero() {
			f.Errorf("the last command is %v", last)
		}
	})
}
