package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	explore "github.com/holdfast-db/holdfast/explore/couchbase"
	search "github.com/holdfast-db/holdfast/internal/explore"
)

// A message that the program has given up may still be executed when the failures end.
func TestACheckFollowsTheMessagesThatGoOn(t *testing.T) {
	report, text := explore.Report(t, "", func(e *explore.Exploration) {
		ctx, cancel := context.WithTimeout(e.Context(), time.Second)
		defer cancel()
		_, err := connect(e).Upsert("k", 1, &couchbase.UpsertOptions{Context: ctx})
		e.Logf("Upsert returned %v", err)
		e.Check(func() error {
			if _, there := e.Cluster().Document("default", "k"); !there {
				return errors.New("there is no document")
			}
			return nil
		})
	}, own(func(s *explore.Strike) couchbasetest.Middleware {
		return func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			r.Aside()
			<-s.Healed()
			<-time.After(10 * time.Minute) // longer than clients have to see that the failures ended
			return next(r)
		}
	})...)
	if report.Count(search.Held) != 1 {
		t.Error(text)
	}
}
