package mongotest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// ids returns the _ids of a collection's documents, in order.
func ids(c *rawClient, coll string) string {
	c.t.Helper()
	var list []string
	for _, doc := range elements(c.ok(`{"find": "%s", "sort": {"_id": 1}, "$readPreference": {"mode": "secondaryPreferred"}, "$db": "db"}`, coll).Lookup("cursor", "firstBatch")) {
		list = append(list, strings.Trim(doc.Lookup("_id").String(), `"`))
	}
	return strings.NewReplacer(`{"$numberInt":"`, "", `"}`, "").Replace(strings.Join(list, " "))
}

// expiring inserts documents whose dates are seconds from now.
func expiring(c *rawClient, coll, field string, more string, seconds ...int) {
	c.t.Helper()
	for i, s := range seconds {
		at := time.Now().Add(time.Duration(s) * time.Second).UnixMilli()
		c.ok(`{"insert": "%s", "documents": [{"_id": %d, "%s": {"$date": {"$numberLong": "%d"}}%s}], "$db": "db"}`, coll, i, field, at, more)
	}
}

// https://www.mongodb.com/docs/manual/core/index-ttl/
func TestExpiredDocumentsAreDeleted(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		expiring(c, "c", "at", "", -100, 10, 1000)
		c.ok(`{"insert": "c", "documents": [{"_id": "no date", "at": 1}, {"_id": "none"}], "$db": "db"}`)
		c.ok(`{"insert": "c", "documents": [{"_id": "first counts", "at": [{"$date": "2100-01-01T00:00:00Z"}, {"$date": "1999-01-01T00:00:00Z"}]}], "$db": "db"}`)
		pass(time.Hour) // there is no index yet
		if got := ids(c, "c"); got != "0 1 2 first counts no date none" {
			t.Fatalf("before there is an index there are %s", got)
		}
		c.ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", "expireAfterSeconds": 7200}], "$db": "db"}`)
		pass(59 * time.Second)
		if got := ids(c, "c"); got != "0 1 2 first counts no date none" {
			t.Fatalf("before the first pass there are %s", got)
		}
		pass(2 * time.Second)
		if got := ids(c, "c"); got != "0 1 2 no date none" {
			t.Errorf("after the first pass there are %s", got)
		}
		pass(time.Hour + time.Minute)
		if got := ids(c, "c"); got != "2 no date none" {
			t.Errorf("two hours after their dates there are %s", got)
		}
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		if got := ids(dial(t, rs, 1), "c"); got != "2 no date none" {
			t.Errorf("a secondary has %s", got)
		}
		if n := number(c.ok(`{"serverStatus": 1, "$db": "admin"}`), "metrics", "ttl", "deletedDocuments"); n != 3 {
			t.Errorf("%d deletions are counted", n)
		}
		newest := c.ok(`{"find": "oplog.rs", "filter": {"op": "d"}, "sort": {"$natural": -1}, "limit": 1, "$db": "local"}`)
		if !strings.Contains(newest.String(), `"o": {"_id": {"$numberInt":"1"}}`) {
			t.Errorf("the oplog ends with %s", newest)
		}
	})
}

func TestOtherExpiringCollections(t *testing.T) {
	for _, test := range []struct{ name, create, field, more, index, left string }{
		{"a partial index", "", "at", `, "done": false`, `"partialFilterExpression": {"done": true}, `, "0 1"},
		{"whose filter matches", "", "at", `, "done": true`, `"partialFilterExpression": {"done": true}, `, "1"},
		{"a sparse index", "", "at", "", `"sparse": true, `, "1"},
		{"time series", `{"create": "c", "timeseries": {"timeField": "at"}, "expireAfterSeconds": 30, "$db": "db"}`, "at", "", "", "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				c := dial(t, rs, 0)
				if test.create != "" {
					c.ok("%s", test.create)
				}
				expiring(c, "c", test.field, test.more, 0, 1000)
				if test.create == "" {
					c.ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", %s"expireAfterSeconds": 30}], "$db": "db"}`, test.index)
				}
				pass(2 * time.Minute)
				if got := ids(c, "c"); got != test.left {
					t.Errorf("there are %s, want %s", got, test.left)
				}
			})
		})
	}
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) { // clustered
		c := dial(t, rs, 0)
		c.ok(`{"create": "c", "clusteredIndex": {"key": {"_id": 1}, "unique": true}, "expireAfterSeconds": 30, "$db": "db"}`)
		c.ok(`{"insert": "c", "documents": [{"_id": {"$date": "1999-01-01T00:00:00Z"}}, {"_id": 7}], "$db": "db"}`)
		pass(2 * time.Minute)
		if got := ids(c, "c"); got != "7" {
			t.Errorf("there are %s", got)
		}
	})
}

func TestTheParametersOfExpiration(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		expiring(c, "c", "at", "", 0)
		c.ok(`{"setParameter": 1, "ttlMonitorEnabled": false, "$db": "admin"}`)
		c.ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", "expireAfterSeconds": 0}], "$db": "db"}`)
		pass(time.Hour)
		if got := ids(c, "c"); got != "0" {
			t.Fatalf("while it is off there are %q", got)
		}
		c.ok(`{"setParameter": 1, "ttlMonitorEnabled": true, "ttlMonitorSleepSecs": 1, "$db": "admin"}`)
		pass(2 * time.Second)
		if got := ids(c, "c"); got != "" {
			t.Errorf("with a pass each second there are %q", got)
		}
		c.has(`"errmsg": "Invalid value for parameter ttlMonitorSleepSecs: 0 is not greater than or equal to 1"`, `{"setParameter": 1, "ttlMonitorSleepSecs": 0, "$db": "admin"}`)
	})
}

func TestANewPrimaryGoesOnWithExpiration(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		expiring(c, "c", "at", "", 0, 90)
		c.ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", "expireAfterSeconds": 0}], "writeConcern": {"w": 3}, "$db": "db"}`)
		rs.Kill(0)
		pass(30 * time.Second) // an election
		pass(3 * time.Minute)
		if got := ids(dial(t, rs, rs.Primary()), "c"); got != "" {
			t.Errorf("the new primary has %q", got)
		}
	})
}

func TestWhatATransactionHasLockedStays(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		expiring(c, "c", "at", "", 0, 0)
		c.ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", "expireAfterSeconds": 0}], "$db": "db"}`)
		const session = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "autocommit": false`
		pass(30 * time.Second)
		c.ok(`{"update": "c", "updates": [{"q": {"_id": 0}, "u": {"$set": {"at": 1}}}], "startTransaction": true, %s, "$db": "db"}`, session)
		pass(40 * time.Second)
		if got := ids(c, "c"); got != "0" {
			t.Errorf("during the transaction there are %q", got)
		}
		c.ok(`{"commitTransaction": 1, %s, "$db": "admin"}`, session)
		pass(2 * time.Minute)
		if got := ids(c, "c"); got != "0" {
			t.Errorf("what the transaction wrote has no date, but there are %q", got)
		}
	})
}
