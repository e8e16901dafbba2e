package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestTheStableAPI has the answers of MongoDB's own engine, except those about the test commands, which it lacks.
func TestTheStableAPI(t *testing.T) {
	for _, c := range []struct{ name, version, command, want string }{
		{"version 1", "8.0", `{"ping": 1, "apiVersion": "1", "apiStrict": true, "apiDeprecationErrors": true, "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"null is no version", "8.0", `{"ping": 1, "apiVersion": null, "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"a version that is no number", "8.0", `{"ping": 1, "apiVersion": "x", "$db": "db"}`, `API version must be \"1\"`},
		{"an empty version", "8.0", `{"ping": 1, "apiVersion": "", "$db": "db"}`, `API version must be \"1\"`},
		{"a number with a zero before it", "8.0", `{"ping": 1, "apiVersion": "01", "$db": "db"}`, `"codeName": "APIVersionError"`},
		{"another number", "8.0", `{"ping": 1, "apiVersion": "2", "$db": "db"}`, `Cannot accept API version 2`},
		{"a version that is no text", "8.0", `{"ping": 1, "apiVersion": 1, "$db": "db"}`, `BSON field 'ping.apiVersion' is the wrong type 'int', expected type 'string'`},
		{"strict that is no boolean", "8.0", `{"find": "x", "apiVersion": "1", "apiStrict": "x", "$db": "db"}`, `BSON field 'find.apiStrict' is the wrong type 'string', expected type 'bool'`},
		{"strict without a version", "8.0", `{"ping": 1, "apiStrict": true, "$db": "db"}`, `Provided apiStrict and/or apiDeprecationErrors without passing apiVersion`},
		{"deprecation errors without a version", "8.0", `{"ping": 1, "apiDeprecationErrors": true, "$db": "db"}`, `Location4886600`},
		{"an unknown command", "8.0", `{"nosuch": 1, "apiVersion": "7", "$db": "db"}`, `"codeName": "CommandNotFound"`},
		{"a command that version 1 lacks", "8.0", `{"serverStatus": 1, "apiVersion": "1", "apiStrict": true, "$db": "db"}`, `the command serverStatus is not in API Version 1.`},
		{"the test command that version 1 lacks", "8.0", `{"testVersion2": 1, "apiVersion": "1", "apiStrict": true, "$db": "db"}`, `"codeName": "APIStrictError"`},
		{"the same, not strict", "8.0", `{"testVersion2": 1, "apiVersion": "1", "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"the deprecated test command", "8.0", `{"testDeprecation": 1, "apiVersion": "1", "apiStrict": true, "apiDeprecationErrors": true, "$db": "db"}`, `"codeName": "APIDeprecationError"`},
		{"the same, deprecation allowed", "8.0", `{"testDeprecation": 1, "apiVersion": "1", "apiStrict": true, "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"a test command on an old server", "4.4", `{"testVersion2": 1, "$db": "db"}`, `"codeName": "CommandNotFound"`},
		{"rawData", "9.0", `{"find": "x", "rawData": true, "$db": "db"}`, `"ok": {"$numberDouble":"1.0"}`},
		{"rawData that is no boolean", "9.0", `{"find": "x", "rawData": 1, "$db": "db"}`, `Field 'rawData' should be a boolean value, but found: int`},
		{"rawData in another command", "9.0", `{"ping": 1, "rawData": true, "$db": "db"}`, `Command does not support the rawData option`},
		{"rawData on an old server", "8.0", `{"find": "x", "rawData": true, "$db": "db"}`, `BSON field 'find.rawData' is an unknown field.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version(c.version))
			if got := dial(t, rs, 0).run("%s", c.command).String(); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %s", c.command, got, c.want)
			}
		})
	}
}

// TestAnAPIVersionIsRequired checks the parameter requireApiVersion: https://www.mongodb.com/docs/manual/reference/parameters/
func TestAnAPIVersionIsRequired(t *testing.T) {
	c := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	c.ok(`{"setParameter": 1, "requireApiVersion": true, "$db": "admin"}`)
	c.has(`"code": {"$numberInt":"498870"}`, `{"ping": 1, "$db": "admin"}`)
	c.has(`"code": {"$numberInt":"498870"}`, `{"hello": 1, "$db": "admin"}`)
	c.ok(`{"ping": 1, "apiVersion": "1", "$db": "admin"}`)
	c.ok(`{"setParameter": 1, "requireApiVersion": false, "apiVersion": "1", "$db": "admin"}`)
	c.ok(`{"ping": 1, "$db": "admin"}`)

	started := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.StartParameters(map[string]string{"requireApiVersion": "true"}))
	dial(t, started, 0).has(`"code": {"$numberInt":"498870"}`, `{"ping": 1, "$db": "admin"}`)
	if err := started.Insert("test.c", map[string]int{"_id": 1}); err != nil {
		t.Errorf("the test itself needs no version: %v", err)
	}
	sharded := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	dial(t, sharded, 0).has(`Cannot set parameter requireApiVersion=true on a shard or config server`, `{"setParameter": 1, "requireApiVersion": true, "$db": "admin"}`)
	front(t, sharded, 0).ok(`{"setParameter": 1, "requireApiVersion": true, "$db": "admin"}`)
	front(t, sharded, 0).has(`"code": {"$numberInt":"498870"}`, `{"ping": 1, "$db": "admin"}`)
}
