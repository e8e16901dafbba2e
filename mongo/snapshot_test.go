package mongo_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Snapshot Reads: all reads of a session, and those of a session that is given its time, read the same data.
func TestTheReadsOfASnapshotSessionReadOneSnapshot(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		read := func(ctx context.Context) (n int) {
			var all []d
			cursor, err := w.coll.Find(ctx, d{}, options.Find().SetBatchSize(1))
			w.must(err)
			w.must(cursor.All(ctx, &all))
			return len(all)
		}
		s, ctx := w.session(options.Session().SetSnapshot(true))
		defer s.EndSession(w.ctx)
		first := read(ctx)
		at := s.SnapshotTime()
		w.must(insertOne(w.ctx, w.coll))
		other, later := w.session(options.Session().SetSnapshot(true).SetSnapshotTime(at))
		defer other.EndSession(w.ctx)
		if second, third, now := read(ctx), read(later), read(w.ctx); first != 1 || second != 1 || third != 1 || now != 2 {
			t.Errorf("%d, %d and %d documents in the snapshot, %d now", first, second, third, now)
		}
		if at.IsZero() || s.SnapshotTime() != at || other.SnapshotTime() != at {
			t.Errorf("the times are %v, %v and %v", at, s.SnapshotTime(), other.SnapshotTime())
		}
	})
}

// Snapshot Reads, "Requires MongoDB 5.0+".
func TestASnapshotReadOfAnOldServerIsRefused(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.session(options.Session().SetSnapshot(true))
		defer s.EndSession(w.ctx)
		err := w.coll.FindOne(ctx, d{}).Err()
		if err == nil || err.Error() != "snapshot reads require MongoDB 5.0 or later" || len(w.started("")) != 0 {
			t.Errorf("%d commands were sent: %v", len(w.started("")), err)
		}
	}, mongotest.Version("4.4"))
}
