package operation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// keeper is an observer that keeps the contexts of the operations that ended, as one does that reports later.
type keeper struct {
	mu   sync.Mutex
	kept []context.Context
}

func (k *keeper) Observe(ctx context.Context, e retry.Event) {
	if e.Kind == retry.EventEnded {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.kept = append(k.kept, ctx)
	}
}

// An observer may keep the context of an operation, also of one that succeeded at once.
func TestAContextThatAnObserverKeeps(t *testing.T) {
	k := new(keeper)
	inWorld(t, nil, func(w *world) {
		for _, data := range []string{"first", "second"} {
			if _, err := w.within(retry.WithData(context.Background(), data), time.Second, w.get(keyOf0)); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{"first", "second"} {
			if got := retry.Data(k.kept[i]); got != want {
				t.Errorf("operation %d has the data %v", i, got)
			}
		}
	}, func(_ *world, _ *cluster.Config, o *operation.Config) { o.Observer = k })
}
