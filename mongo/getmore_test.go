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

func TestTheAwaitTimeOfACursor(t *testing.T) {
	for _, c := range []struct {
		name string
		time time.Duration
		want int64 // maxTimeMS of the getMore, 0 means none
	}{
		{"is maxTimeMS", 5 * time.Second, 5000},
		{"is rounded up to milliseconds", time.Microsecond, 1},
		{"0 means that the server chooses", 0, 0},
		{"a negative one counts as 0", -time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			onDatabase(t, func(f *fiveDocuments) {
				cursor := f.mustOpen(nil)
				cursor.SetMaxAwaitTime(c.time)
				for cursor.Next(f.Context()) {
				}
				ms, _ := f.sent[1].Lookup("maxTimeMS").AsInt64OK()
				if ms != c.want {
					f.Errorf("maxTimeMS is %d, want %d", ms, c.want)
				}
				_ = cursor.Close(f.Context()) // the server refuses maxTimeMS
			})
		})
	}
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
