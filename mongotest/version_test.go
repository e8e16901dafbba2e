package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Clients recognise versions by these: the wire version, the name of hello, topologyVersion, and who labels errors.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		version         string
		wire            int64
		hello, topology bool
		notPrimary      string
		labels          bool
	}{
		{"3.6", 6, false, false, "NotMaster", false},
		{"4.0.28", 7, false, false, "NotMaster", false},
		{"4.2", 8, false, false, "NotMaster", false},
		{"4.4.0", 9, false, true, "NotMaster", true},
		{"4.4", 9, true, true, "NotWritablePrimary", true},
		{"5.0", 13, true, true, "NotWritablePrimary", true},
		{"6.0", 17, true, true, "NotWritablePrimary", true},
		{"7.0", 21, true, true, "NotWritablePrimary", true},
		{"8.0.1", 25, true, true, "NotWritablePrimary", true},
		{"9.0", 29, true, true, "NotWritablePrimary", true},
	} {
		t.Run(c.version, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Version(c.version))
			client := dial(t, rs, 1)
			if got := number(client.run(`{"hello": 1, "$db": "admin"}`), "ok") == 1; got != c.hello {
				t.Errorf("hello is there: %v, want %v", got, c.hello)
			}
			hello := client.ok(`{"isMaster": 1, "helloOk": true, "$db": "admin"}`)
			if got := number(hello, "maxWireVersion"); got != c.wire {
				t.Errorf("maxWireVersion %d, want %d", got, c.wire)
			}
			if _, err := hello.LookupErr("topologyVersion"); (err == nil) != c.topology {
				t.Errorf("topologyVersion: %v", err)
			}
			if _, err := hello.LookupErr("helloOk"); (err == nil) != c.hello {
				t.Errorf("helloOk: %v", err)
			}
			if got := client.ok(`{"buildInfo": 1, "$db": "admin"}`).Lookup("version").StringValue(); !strings.HasPrefix(got, c.version) {
				t.Errorf("buildInfo says %s", got)
			}
			reply := client.run(`{"insert": "c", "documents": [{}], "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==",
				"subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "$db": "db"}`)
			_, err := reply.LookupErr("errorLabels")
			if got := reply.Lookup("codeName").StringValue(); got != c.notPrimary || (err == nil) != c.labels {
				t.Errorf("a secondary answers a write with %v", reply)
			}
		})
	}
}

func TestAnUnknownVersionIsRefused(t *testing.T) {
	for _, v := range []string{"7", "7.1", "seven", "7.0.0.1", "3.4"} {
		_, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Version(v))
		if err == nil || !strings.Contains(err.Error(), "Version") {
			t.Errorf("%q: %v", v, err)
		}
	}
}

// Before 4.4 these fields are not there, and a comment is a string.
func TestFieldsThatServersHaveSince44(t *testing.T) {
	for version, refused := range map[string]bool{"4.2": true, "4.4": false} {
		rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version(version))
		client := dial(t, rs, 0)
		for command, code := range map[string]int64{
			`{"find": "c", "allowDiskUse": true, "$db": "db"}`:                                                       40415,
			`{"find": "c", "comment": {"a": 1}, "$db": "db"}`:                                                        14,
			`{"aggregate": "c", "pipeline": [], "cursor": {}, "comment": {"a": 1}, "$db": "db"}`:                     14,
			`{"delete": "c", "deletes": [{"q": {}, "limit": 1, "hint": "_id_"}], "$db": "db"}`:                       40415,
			`{"findAndModify": "c", "query": {}, "remove": true, "hint": "_id_", "$db": "db"}`:                       40415,
			`{"find": "c", "comment": "text", "$db": "db"}`:                                                          0,
			`{"aggregate": "c", "pipeline": [], "cursor": {}, "comment": "text", "allowDiskUse": true, "$db": "db"}`: 0,
		} {
			if !refused {
				code = 0
			}
			reply := client.run("%s", command)
			if got, _ := reply.Lookup("code").AsInt64OK(); got != code {
				t.Errorf("%s: %s: %v", version, command, reply)
			}
		}
	}
}
