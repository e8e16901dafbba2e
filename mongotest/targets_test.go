package mongotest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The collections and members where a pipeline may write. The results of $out and $merge are in testdata/cases.
func TestPipelinesThatWrite(t *testing.T) {
	for _, c := range []struct {
		name, version string
		member        int
		command       string
		want, after   string
	}{
		{
			"a secondary has the primary write", "7.0", 1,
			`{"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {}, "$db": "db", "$readPreference": {"mode": "secondary"}, "writeConcern": {"w": 3}}`,
			`"ok": {"$numberDouble":"1.0"}`, `[{"_id": {"$numberInt":"1"}}]`,
		},
		{
			"a secondary has the primary merge", "5.0", 2,
			`{"aggregate": "c", "pipeline": [{"$merge": "o"}], "cursor": {}, "$db": "db", "$readPreference": {"mode": "secondary"}, "writeConcern": {"w": 3}}`,
			`"ok": {"$numberDouble":"1.0"}`, `[{"_id": {"$numberInt":"1"}}]`,
		},
		{
			"before 5.0 only the primary writes", "4.4", 1,
			`{"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {}, "$db": "db", "$readPreference": {"mode": "secondary"}}`,
			`"code": {"$numberInt":"10107"}`, `[]`,
		},
		{
			"a write concern that cannot be", "7.0", 0,
			`{"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {}, "$db": "db", "writeConcern": {"w": 9}}`,
			`"writeConcernError": {"code": {"$numberInt":"100"}`, `[{"_id": {"$numberInt":"1"}}]`,
		},
		{
			"not at a snapshot", "7.0", 0,
			`{"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {}, "$db": "db", "readConcern": {"level": "snapshot"}}`,
			`$out cannot be used with a 'snapshot' read concern level`, `[]`,
		},
		{
			"not in a transaction", "7.0", 0,
			`{"aggregate": "c", "pipeline": [{"$merge": "o"}], "cursor": {}, "$db": "db", ` + lsid + `, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false}`,
			`Aggregation stage $merge cannot run within a multi-document transaction.","code": {"$numberInt":"263"}`, `[]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Version(c.version))
			first := dial(t, rs, 0)
			first.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db", "writeConcern": {"w": 3}}`)
			if got := dial(t, rs, c.member).run("%s", c.command).String(); !strings.Contains(got, c.want) {
				t.Errorf("the reply is %s; want %s in it", got, c.want)
			}
			if got := first.ok(`{"find": "o", "$db": "db"}`).Lookup("cursor", "firstBatch").String(); got != c.after {
				t.Errorf("there is %s, want %s", got, c.after)
			}
		})
	}
}

// A rollback removes the result of a $out that no majority has, and restores the collection that was there before.
func TestAnOutIsRolledBack(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "o", "documents": [{"_id": "old"}], "$db": "db"}`)
		c.ok(`{"insert": "c", "documents": [{"_id": "new"}], "$db": "db"}`)
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		rs.Partition([]int{0}, []int{1, 2})
		c.ok(`{"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {}, "$db": "db", "writeConcern": {"w": 1}}`)
		found := func() string {
			return c.ok(`{"find": "o", "$db": "db", "$readPreference": {"mode": "nearest"}}`).Lookup("cursor", "firstBatch").String()
		}
		if got := found(); got != `[{"_id": "new"}]` {
			t.Errorf("there is %s", got)
		}
		pass(11 * time.Second)
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		if got := found(); got != `[{"_id": "old"}]` {
			t.Errorf("after the rollback there is %s", got)
		}
		if got := c.ok(`{"listCollections": 1, "nameOnly": true, "$db": "db", "$readPreference": {"mode": "nearest"}}`).String(); strings.Contains(got, "tmp.") {
			t.Errorf("the temporary collection is left: %s", got)
		}
	})
}
