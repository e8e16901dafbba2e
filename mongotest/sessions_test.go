package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// session returns the fields of a retryable write.
func session(txn int) string {
	return fmt.Sprintf(`"$db": "test", %s, "txnNumber": {"$numberLong": "%d"}}`, lsid, txn)
}

func TestRetryableStatementsAreExecutedOnce(t *testing.T) {
	for _, test := range []struct {
		rule, command string
		first, again  string // of the reply
	}{
		{
			"insert", `{"insert": "c", "documents": [{"_id": 7}, {"_id": 8}], `,
			`{"n": 2, "ok": 1.0}`, `{"n": 2, "retriedStmtIds": [0, 1], "ok": 1.0}`,
		},
		{
			"update", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}, {"q": {"_id": 2}, "u": {"$inc": {"n": 1}}}], `,
			`{"n": 2, "nModified": 2, "ok": 1.0}`, `{"n": 2, "nModified": 2, "retriedStmtIds": [0, 1], "ok": 1.0}`,
		},
		{
			"upsert", `{"update": "c", "updates": [{"q": {"_id": 9}, "u": {"$inc": {"n": 1}}, "upsert": true}], `,
			`{"n": 1, "upserted": [{"index": 0, "_id": 9}], "nModified": 0, "ok": 1.0}`,
			`{"n": 1, "upserted": [{"index": 0, "_id": 9}], "nModified": 0, "retriedStmtIds": [0], "ok": 1.0}`,
		},
		{
			"delete", `{"delete": "c", "deletes": [{"q": {}, "limit": 1}], `,
			`{"n": 1, "ok": 1.0}`, `{"n": 1, "retriedStmtIds": [0], "ok": 1.0}`,
		},
		{
			"findAndModify, the document before", `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}, `,
			`{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 0}, "ok": 1.0}`,
			`{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 0}, "retriedStmtId": 0, "ok": 1.0}`,
		},
		{
			"findAndModify, the document after", `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}, "new": true, `,
			`{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 1}, "ok": 1.0}`,
			`{"lastErrorObject": {"n": 1, "updatedExisting": true}, "value": {"_id": 1, "n": 1}, "retriedStmtId": 0, "ok": 1.0}`,
		},
		{
			"findAndModify, upsert", `{"findAndModify": "c", "query": {"_id": 9}, "update": {"$inc": {"n": 1}}, "new": true, "upsert": true, `,
			`{"lastErrorObject": {"n": 1, "updatedExisting": false, "upserted": 9}, "value": {"_id": 9, "n": 1}, "ok": 1.0}`,
			`{"lastErrorObject": {"n": 1, "updatedExisting": false, "upserted": 9}, "value": {"_id": 9, "n": 1}, "retriedStmtId": 0, "ok": 1.0}`,
		},
		{
			"findAndModify, remove", `{"findAndModify": "c", "query": {"_id": 2}, "remove": true, `,
			`{"lastErrorObject": {"n": 1}, "value": {"_id": 2, "n": 0}, "ok": 1.0}`,
			`{"lastErrorObject": {"n": 1}, "value": {"_id": 2, "n": 0}, "retriedStmtId": 0, "ok": 1.0}`,
		},
	} {
		t.Run(test.rule, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
			c := dial(t, rs, 0)
			c.ok(`{"insert": "c", "documents": [{"_id": 1, "n": 0}, {"_id": 2, "n": 0}], "$db": "test"}`)
			first := without(c.ok("%s", test.command+session(3)), volatile...)
			if want := without(raw(t, test.first)); first != want {
				t.Errorf("the first time\ngot  %s\nwant %s", first, want)
			}
			must[any](t)(nil, rs.WaitIdle(context.Background()))
			before := fmt.Sprint(rs.ReadAll("test.c"))
			again := without(c.ok("%s", test.command+session(3)), volatile...)
			if want := without(raw(t, test.again)); again != want {
				t.Errorf("the second time\ngot  %s\nwant %s", again, want)
			}
			must[any](t)(nil, rs.WaitIdle(context.Background()))
			if after := fmt.Sprint(rs.ReadAll("test.c")); after != before {
				t.Errorf("the retry changed the data from\n%s\nto\n%s", before, after)
			}
		})
	}
}

func TestSessionRules(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok("%s", `{"insert": "c", "documents": [{"_id": 1}], `+session(5))
	for _, test := range []struct {
		rule, command string
		code          int64
		text          string
	}{
		{"an older number is refused", `{"insert": "c", "documents": [{"_id": 2}], ` + session(4), 225, "txnNumber 5 has already started"},
		{"a number needs a session", `{"insert": "c", "documents": [{}], "txnNumber": {"$numberLong": "1"}, "$db": "test"}`, 72, "requires a session"},
		{"a find takes no number", `{"find": "c", ` + session(6), 50768, "find is not a retryable write"},
		{"a number is 64 bits wide", `{"insert": "c", "documents": [{}], "txnNumber": 1, "$db": "test", ` + lsid + `}`, 14, "txnNumber"},
		{"a session is a document", `{"find": "c", "$db": "test", "lsid": 1}`, 14, "BSON field 'OperationSessionInfo.lsid' is the wrong type 'int', expected type 'object'"},
		{"a session has an id", `{"find": "c", "$db": "test", "lsid": {}}`, 40414, "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field"},
		{"which is binary", `{"find": "c", "$db": "test", "lsid": {"id": 1}}`, 14, "BSON field 'OperationSessionInfo.lsid.id' is the wrong type 'int', expected type 'binData'"},
		{
			"and a UUID", `{"ping": 1, "$db": "test", "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "03"}}}}`, 14,
			"BSON field 'OperationSessionInfo.lsid.id' is the wrong binData type 'UUID(deprecated)', expected type 'UUID'",
		},
		{
			"of any other kind", `{"ping": 1, "$db": "test", "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "80"}}}}`, 14,
			"wrong binData type 'Custom'",
		},
		{
			"of 16 bytes", `{"ping": 1, "$db": "test", "lsid": {"id": {"$binary": {"base64": "AAAA", "subType": "04"}}}}`, 207,
			"uuid must be a 16-byte binary field with UUID (4) subtype",
		},
	} {
		reply := c.run("%s", test.command)
		if number(reply, "code") != test.code || !strings.Contains(reply.Lookup("errmsg").StringValue(), test.text) {
			t.Errorf("%s: %v, want %d with %q", test.rule, reply, test.code, test.text)
		}
	}
	for _, multi := range []string{
		`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "multi": true}], `,
		`{"delete": "c", "deletes": [{"q": {}, "limit": 0}], `,
	} {
		reply := c.ok("%s", multi+session(7))
		if number(reply, "writeErrors", "0", "code") != 72 || number(reply, "n") != 0 {
			t.Errorf("%s: %v, want a write error 72", multi, reply)
		}
	}
}

func TestRetryableErrorsCarryTheLabel(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 1)
	for command, want := range map[string]bool{
		`{"insert": "c", "documents": [{}], ` + session(1):           true,
		`{"insert": "c", "documents": [{}], "$db": "test"}`:          false,
		`{"find": "c", "$db": "test"}`:                               false,
		`{"insert": "c", "documents": [{}], "frob": 1,` + session(2): false,
	} {
		if reply := c.run("%s", command); labelled(reply, "RetryableWriteError") != want {
			t.Errorf("%s: %v, want the label: %t", command, reply, want)
		}
	}
}

// TestLabelsOfErrors checks which label the error of a fail point gets where.
func TestLabelsOfErrors(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	const write, inTransaction = `{"insert": "c", "documents": [{}], `, `{"find": "c", "startTransaction": true, "autocommit": false, `
	for i, test := range []struct {
		rule, command string
		code          int
		label         string // "" for none
	}{
		{"a majority that is not there yet may be there at the retry", write, 134, "RetryableWriteError"},
		{"and for another transaction", inTransaction, 134, "TransientTransactionError"},
		{"another snapshot may be new enough", inTransaction, 239, "TransientTransactionError"},
		{"or be there", inTransaction, 246, "TransientTransactionError"},
		{"a write has no snapshot", write, 239, ""},
	} {
		c.ok(`{"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {"failCommands": ["find", "insert"], "errorCode": %d}, "$db": "admin"}`, test.code)
		reply := c.run("%s", test.command+session(i))
		if _, err := reply.LookupErr("errorLabels"); (err == nil) != (test.label != "") || test.label != "" && !labelled(reply, test.label) {
			t.Errorf("%s: %v, want the label %q", test.rule, reply, test.label)
		}
	}
}

func TestStandalone(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.InMemory())
	c := dial(t, rs, 0)
	reply := c.run("%s", `{"insert": "c", "documents": [{}], `+session(1))
	if number(reply, "code") != 20 ||
		reply.Lookup("errmsg").StringValue() != "Transaction numbers are only allowed on a replica set member or mongos" {
		t.Errorf("a transaction number is answered %v", reply)
	}
	hello := c.ok(`{"hello": 1, "$db": "admin"}`)
	for _, field := range []string{"setName", "hosts", "me", "electionId", "$clusterTime", "operationTime"} {
		if _, err := hello.LookupErr(field); err == nil {
			t.Errorf("the hello has %s", field)
		}
	}
	c.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test", "writeConcern": {"w": "majority"}}`)
	if reply := c.run(`{"insert": "c", "documents": [{}], "$db": "test", "writeConcern": {"w": 2}}`); number(reply, "code") != 2 {
		t.Errorf("w:2 is answered %v", reply)
	}
	if got := len(rs.ReadAll("test.c")); got != 1 {
		t.Errorf("there are %d documents, want 1", got)
	}
	if _, err := connect(t, rs).Database("test").Collection("c").InsertOne(within(t), j(`{"_id": 2}`)); err != nil {
		t.Error(err)
	}
}
