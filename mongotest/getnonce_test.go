package mongotest_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestGetNonceIsThereUntil60(t *testing.T) {
	for version, want := range map[string]int64{"3.6": 1, "6.0": 1, "7.0": 0, "8.0": 0} {
		c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version(version)), 0)
		reply := c.run(`{"getnonce": 1, "$db": "db"}`)
		nonce, _ := reply.Lookup("nonce").StringValueOK()
		if number(reply, "ok") != want || (len(nonce) == 16) != (want == 1) {
			t.Errorf("%s answers %s", version, reply)
		}
	}
}
