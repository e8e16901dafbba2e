package mongotest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestAWriteConcernErrorTellsTheConcern(t *testing.T) {
	for _, test := range []struct{ given, version, want string }{
		{`"writeConcern": {"w": 2, "wtimeout": 50}, `, "7.0", `64 {"wtimeout":true,"writeConcern":{"w":2,"wtimeout":50,"provenance":"clientSupplied"}}`},
		{`"writeConcern":{"w":"majority", "j":true, "wtimeout":50}, `, "7.0", `64 {"wtimeout":true,"writeConcern":{"w":"majority","j":true,"wtimeout":50,"provenance":"clientSupplied"}}`},
		{`"writeConcern": {"w": 2, "wtimeout": 50}, `, "4.2", `64 {"wtimeout":true,"writeConcern":{"w":2,"wtimeout":50}}`},
		{`"writeConcern":{"w":9}, `, "7.0", `100 {"writeConcern":{"w":9,"wtimeout":0,"provenance":"clientSupplied"}}`},
		{`"writeConcern":{"w":"x"}, `, "7.0", `79 {"writeConcern":{"w":"x","wtimeout":0,"provenance":"clientSupplied"}}`},
		{`"maxTimeMS":100, "writeConcern":{"w":3}, `, "7.0", `50 {"writeConcern":{"w":3,"wtimeout":0,"provenance":"clientSupplied"}}`},
		{`"maxTimeMS":100, "writeConcern":{"w":3, "wtimeout":200}, `, "7.0", `50 {"writeConcern":{"w":3,"wtimeout":200,"provenance":"clientSupplied"}}`},
		{`"maxTimeMS":200, "writeConcern":{"w":3, "wtimeout":100}, `, "7.0", `64 {"wtimeout":true,"writeConcern":{"w":3,"wtimeout":100,"provenance":"clientSupplied"}}`},
		{`"maxTimeMS":100, `, "7.0", `50 {"writeConcern":{"w":"majority","wtimeout":0,"provenance":"implicitDefault"}}`},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			reply := dial(t, rs, 0).ok(`{"insert":"c", "documents":[{"_id":1}], %s"$db":"test"}`, test.given)
			info := must[[]byte](t)(bson.MarshalExtJSON(reply.Lookup("writeConcernError", "errInfo").Document(), false, false))
			got := fmt.Sprint(number(reply, "writeConcernError", "code"), " ", string(info))
			if got != test.want {
				t.Errorf("%s%s: got %s, want %s", test.given, test.version, got, test.want)
			}
		}, mongotest.ReplicationDelay(5*time.Second), mongotest.Version(test.version))
	}
}

func TestStepDownPeriods(t *testing.T) {
	for _, test := range []struct{ rule, command, want string }{
		{"as long as the others may catch up", `{"replSetStepDown":5, "$db":"admin"}`, "must be longer than secondaryCatchUpPeriodSecs"},
		{"that of the command", `{"replSetStepDown":20, "secondaryCatchUpPeriodSecs":30, "$db":"admin"}`, "must be longer than"},
		{"no negative one", `{"replSetStepDown":20, "secondaryCatchUpPeriodSecs":-1, "$db":"admin"}`, "must be a positive or absent"},
		{"none if forced", `{"replSetStepDown":5, "force":true, "$db":"admin"}`, ""},
		{"a shorter one", `{"replSetStepDown":5, "secondaryCatchUpPeriodSecs":5, "$db":"admin"}`, ""},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			got, _ := dial(t, rs, 0).run("%s", test.command).Lookup("errmsg").StringValueOK()
			if !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%s: %s is answered %q, want %q", test.rule, test.command, got, test.want)
			}
		})
	}
}

func TestADefaultWriteConcernTellsThatItIsOne(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"setDefaultRWConcern": 1, "defaultWriteConcern": {"w": 3}, "writeConcern": {"w": 1}, "$db": "admin"}`)
		reply := c.ok(`{"insert": "c", "documents": [{"_id": 1}], "maxTimeMS": 100, "$db": "test"}`)
		got, _ := reply.Lookup("writeConcernError", "errInfo", "writeConcern", "provenance").StringValueOK()
		if got != "customDefault" {
			t.Errorf("the reply is %v", reply)
		}
	}, mongotest.ReplicationDelay(5*time.Second))
}

// TestAFailedCommandWaitsForItsWriteConcern checks that the reply of a command that tried to write and failed tells of its write concern
// too, which is waited for: https://jira.mongodb.org/browse/SERVER-25765. One that is refused before it would write does not wait.
func TestAFailedCommandWaitsForItsWriteConcern(t *testing.T) {
	for _, test := range []struct {
		command      string
		failed, late bool
	}{
		{`"findAndModify": "c", "query": {"_id": 2}, "update": {"$set": {"a": 1}}, "upsert": true`, true, true},
		{`"create": "c", "capped": true, "size": 100`, true, true},
		{`"drop": "nosuch"`, false, true},
		{`"createIndexes": "c", "indexes": [{"key": {"b": 1}, "name": "b", "unique": true}]`, true, true},
		{`"renameCollection": "test.nosuch", "to": "test.d"`, true, true},
		{`"insert": "c", "documents": [{"_id": 1}]`, false, true},
		{`"insert": "c", "documents": [], "nosuch": 1`, true, false},
	} {
		for concern, code := range map[string]int64{`{"w": 3, "wtimeout": 50}`: 64, `{"w": 9}`: 100, `{"w": 1}`: -1} {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				c := dial(t, rs, 0)
				c.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a", "unique": true}], "writeConcern": {"w": 1}, "$db": "test"}`)
				c.ok(`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 3, "a": 3}], "writeConcern": {"w": 1}, "$db": "test"}`)
				db := "test"
				if strings.HasPrefix(test.command, `"rename`) {
					db = "admin"
				}
				got := c.run(`{%s, "writeConcern": %s, "$db": "%s"}`, test.command, concern, db)
				if failed := number(got, "ok") == 0; failed != test.failed {
					t.Errorf("%s: %v", test.command, got)
				}
				want := code
				if !test.late {
					want = -1
				}
				if is := number(got, "writeConcernError", "code"); is != want {
					t.Errorf("%s with %s has a write concern's error %d, want %d: %v", test.command, concern, is, want, got)
				}
			}, mongotest.ReplicationDelay(5*time.Second))
		}
	}
}
