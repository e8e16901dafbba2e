package spec

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// frame is a file around the operations of one case.
const frame = `{
	"description": "operations", "schemaVersion": "1.28",
	"createEntities": [
		{"client": {"id": "client", "observeEvents": ["commandStartedEvent", "poolClearedEvent", "connectionReadyEvent"]}},
		{"database": {"id": "db", "client": "client", "databaseName": "db"}},
		{"collection": {"id": "c", "database": "db", "collectionName": "c"}},
		%s
		{"thread": {"id": "thread"}}
	],
	"initialData": [{"databaseName": "db", "collectionName": "c", "documents": [{"_id": 1}]}],
	"tests": [{"description": "one", "operations": [%s]}]
}`

// framed has a session only if the operations name it, because the client may lack sessions.
func framed(t *testing.T, operations ...string) *unified.File {
	t.Helper()
	all, session := strings.Join(operations, ","), ""
	if strings.Contains(all, `"session"`) {
		session = `{"session": {"id": "session", "client": "client"}},`
	}
	f, err := unified.Parse(fmt.Appendf(nil, frame, session, all))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func runner(name, arguments string) string {
	return fmt.Sprintf(`{"object": "testRunner", "name": %q, "arguments": {%s}}`, name, arguments)
}

func insert(more string) string {
	return fmt.Sprintf(`{"object": "c", "name": "insertOne", "arguments": {"document": {"_id": 1}}%s}`, more)
}

// TestRunnerOperations runs what no published file uses so that it could fail: each operation once as it should be, and once not.
// Those that need something that the client lacks are left out.
func TestRunnerOperations(t *testing.T) {
	run := 0
	find := `{"object": "c", "name": "find", "arguments": {"filter": {}}, "expectResult": [{"_id": 1}]}`
	onThread := func(op string) string { return runner("runOnThread", `"thread": "thread", "operation": `+op) }
	wait := runner("waitForThread", `"thread": "thread"`)
	started := `"client": "client", "event": {"commandStartedEvent": {"commandName": "find"}}, "count": `
	record := runner("recordTopologyDescription", `"client": "client", "id": "topology"`)
	point := runner("failPoint", `"client": "client", "failPoint": {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": {"failCommands": ["find"], "errorCode": 2}}`)
	callback := func(op string) string {
		return `{"object": "session", "name": "withTransaction", "arguments": {"callback": [` + op + `]}}`
	}
	duplicate := func(keys string) string { return insert(`, "expectError": {` + keys + `}`) }
	for _, c := range []struct {
		name       string
		operations []string
		passes     bool
	}{
		{"a thread", []string{onThread(find), wait}, true},
		{"a thread whose operation fails", []string{onThread(insert("")), wait}, false},
		{"an operation of the runner in a thread that fails", []string{onThread(runner("assertSessionDirty", `"session": "session"`)), wait}, false},
		{"events are counted", []string{find, runner("assertEventCount", started+"1")}, true},
		{"more events are wanted", []string{find, runner("assertEventCount", started+"2")}, false},
		{"fewer events are wanted", []string{find, find, runner("assertEventCount", started+"1")}, false},
		{"an event that was before", []string{find, runner("waitForEvent", started+"1")}, true},
		{"an event to come", []string{onThread(find), runner("waitForEvent", started+"1"), wait}, true},
		{"an event that does not come", []string{runner("waitForEvent", started+"1")}, false},
		{"the topology", []string{find, record, runner("assertTopologyType", `"topologyDescription": "topology", "topologyType": "ReplicaSetWithPrimary"`)}, true},
		{"another topology", []string{find, record, runner("assertTopologyType", `"topologyDescription": "topology", "topologyType": "Single"`)}, false},
		{"a primary that does not change", []string{find, record, runner("waitForPrimaryChange", `"client": "client", "priorTopologyDescription": "topology", "timeoutMS": 5`)}, false},
		{"a wait", []string{runner("wait", `"ms": 1000`)}, true},
		{"a wait that never ends", []string{runner("wait", `"ms": 1000000000`)}, false},
		{"no connection is out", []string{find, runner("assertNumberConnectionsCheckedOut", `"client": "client", "connections": 0`)}, true},
		{"a connection should be out", []string{find, runner("assertNumberConnectionsCheckedOut", `"client": "client", "connections": 1`)}, false},
		{"a session that is not dirty", []string{runner("assertSessionNotDirty", `"session": "session"`)}, true},
		{"a session that is not pinned", []string{runner("assertSessionUnpinned", `"session": "session"`)}, true},
		{"a session that should be pinned", []string{runner("assertSessionPinned", `"session": "session"`)}, false},
		{"a session that should be in a transaction", []string{runner("assertSessionTransactionState", `"session": "session", "state": "in_progress"`)}, false},
		{"a transaction's callback", []string{callback(runner("assertSessionNotDirty", `"session": "session"`))}, true},
		{"a transaction's callback that fails", []string{callback(runner("assertSessionDirty", `"session": "session"`))}, false},
		{"a collection", []string{runner("assertCollectionExists", `"databaseName": "db", "collectionName": "c"`)}, true},
		{"a collection that should not be", []string{runner("assertCollectionNotExists", `"databaseName": "db", "collectionName": "c"`)}, false},
		{"a collection that should be", []string{runner("assertCollectionExists", `"databaseName": "db", "collectionName": "d"`)}, false},
		{"a fail point", []string{point, find}, false},
		{"an operation of the runner that there is not", []string{runner("loop", ``)}, false},
		{"an error of the runner is not ignored", []string{`{"object": "none", "name": "find", "ignoreResultAndError": true}`}, false},
		{"an error of the runner is not expected", []string{`{"object": "c", "name": "fantasy", "expectError": {"isError": true}}`}, false},

		{"an error", []string{duplicate(`"isError": true`)}, true},
		{"an error that does not come", []string{`{"object": "c", "name": "find", "arguments": {"filter": {}}, "expectError": {"isError": true}}`}, false},
		{"the server's error", []string{duplicate(`"isClientError": false, "errorCode": 11000, "errorContains": "e11000", "errorLabelsOmit": ["RetryableWriteError"]`)}, true},
		{"the client's error", []string{duplicate(`"isClientError": true`)}, false},
		{"no timeout", []string{duplicate(`"isTimeoutError": false`)}, true},
		{"a timeout", []string{duplicate(`"isTimeoutError": true`)}, false},
		{"another code", []string{duplicate(`"errorCode": 1`)}, false},
		{"a code's name", []string{duplicate(`"errorCodeName": "duplicatekey"`)}, true},
		{"another code's name", []string{duplicate(`"errorCodeName": "Interrupted"`)}, false},
		{"another text", []string{duplicate(`"errorContains": "apples"`)}, false},
		{"a label", []string{duplicate(`"errorLabelsContain": ["RetryableWriteError"]`)}, false},
		{"a response", []string{duplicate(`"errorResponse": {"writeErrors": [{"index": 0, "code": 11000, "errmsg": {"$$type": "string"}, "keyPattern": {"$$exists": true}, "keyValue": {"_id": 1}}]}`)}, true},
		{"another response", []string{duplicate(`"errorResponse": {"writeErrors": []}`)}, false},
		{"an error that is written with a key that there is not", []string{duplicate(`"errorColour": 1`)}, false},
		{"an error that is ignored", []string{insert(`, "ignoreResultAndError": true`)}, true},
		{"a result that is saved and matched", []string{
			`{"object": "c", "name": "findOne", "arguments": {"filter": {}}, "saveResultAsEntity": "found"}`,
			`{"object": "c", "name": "findOne", "arguments": {"filter": {}}, "expectResult": {"$$matchesEntity": "found"}}`,
		}, true},
		{"a name that is given twice", []string{
			`{"object": "c", "name": "findOne", "arguments": {"filter": {}}, "saveResultAsEntity": "db"}`,
		}, false},
	} {
		f := framed(t, c.operations...)
		r := result{err: runCase(t, f, &f.Tests[0], onReplicaSet(f, &f.Tests[0]))}
		if r.outcome() == unsupported {
			continue
		}
		run++
		if (r.err == nil) != c.passes {
			t.Errorf("%s: %v", c.name, r.err)
		}
	}
	if run < leastOperations {
		t.Errorf("only %d cases were run", run)
	}
}

func TestFailPointsEndWithTheirCase(t *testing.T) {
	point := runner("failPoint", `"client": "client", "failPoint": {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": {"failCommands": ["find"], "errorCode": 2}}`)
	synctest.Test(t, func(t *testing.T) {
		r := unified.Runner{Deployment: start(t, unified.Facts{Version: versions[0], Topology: "replicaset"})}
		for _, operation := range []string{point, `{"object": "c", "name": "find", "arguments": {"filter": {}}}`} {
			f := framed(t, operation)
			if err := r.Run(t.Context(), f, &f.Tests[0]); err != nil {
				t.Errorf("%s: %v", operation, err)
			}
		}
	})
}
