package mongotest_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The manual says that index filters are kept by a server until it ends, and are not those of other members:
// https://www.mongodb.com/docs/manual/reference/command/planCacheSetFilter/.

const setFilter = `{"planCacheSetFilter": "c", "query": {"a": 1}, "indexes": ["a_1"], "$db": "test"}`

// indexFilters returns how many index filters a member has.
func indexFilters(t *testing.T, rs *mongotest.Deployment, member int) int {
	t.Helper()
	reply := dial(t, rs, member).ok(`{"planCacheListFilters": "c", "$readPreference": {"mode": "nearest"}, "$db": "test"}`)
	return len(must[[]bson.RawValue](t)(reply.Lookup("filters").Array().Values()))
}

func TestIndexFiltersAreThoseOfOneMember(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"create": "c", "writeConcern": {"w": 3}, "$db": "test"}`)
		c.ok(setFilter)
		for member, want := range []int{1, 0, 0} {
			if n := indexFilters(t, rs, member); n != want {
				t.Errorf("member %d has %d filters, want %d", member, n, want)
			}
		}
		if got := dial(t, rs, 1).run(setFilter); number(got, "code") != 13435 {
			t.Errorf("a secondary without a read preference answers %v", got)
		}
	})
}

func TestARestartForgetsIndexFilters(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"create": "c", "$db": "test"}`)
		c.ok(setFilter)
		c.ok(`{"renameCollection": "test.c", "to": "test.d", "$db": "admin"}`)
		c.ok(`{"create": "c", "$db": "test"}`)
		if n := indexFilters(t, rs, 0); n != 0 {
			t.Errorf("a new collection has %d filters", n)
		}
		c.ok(setFilter)
		rs.Kill(0)
		rs.Restart(0)
		must[int](t)(rs.WaitPrimary(t.Context()))
		if n := indexFilters(t, rs, 0); n != 0 {
			t.Errorf("after a restart there are %d filters", n)
		}
	})
}
