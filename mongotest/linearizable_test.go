package mongotest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

const linearizableFind = `{"find": "c", "readConcern": {"level": "linearizable"}, "$db": "test"%s}`

func TestLinearizableReads(t *testing.T) {
	for _, test := range []struct {
		rule, command string
		member        int
		code          int64
		took          time.Duration
		alone         bool // the primary reaches nobody
	}{
		{"find", linearizableFind, 0, -1, 0, false},
		{"count", `{"count": "c", "readConcern": {"level": "linearizable"}, "$db": "test"%s}`, 0, -1, 0, false},
		{"distinct", `{"distinct": "c", "key": "n", "readConcern": {"level": "linearizable"}, "$db": "test"%s}`, 0, -1, 0, false},
		{"aggregate", `{"aggregate": "c", "pipeline": [], "cursor": {}, "readConcern": {"level": "linearizable"}, "$db": "test"%s}`, 0, -1, 0, false},
		{"no other command", `{"listIndexes": "c", "readConcern": {"level": "linearizable"}, "$db": "test"%s}`, 0, 72, 0, false},
		{"not with a time", `{"find": "c", "readConcern": {"level": "linearizable", "afterClusterTime": {"$timestamp": {"t": 1, "i": 1}}}, "$db": "test"%s}`, 0, 72, 0, false},
		{"not at a secondary", linearizableFind, 1, 10107, 0, false},
		{"a primary that is alone cannot tell", linearizableFind, 0, 11602, 10 * time.Second, true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				dial(t, rs, 0).ok(`%s}`, inc)
				if test.alone {
					rs.Partition([]int{0})
				}
				began, more := time.Now(), ""
				if test.member == 1 {
					more = `, "$readPreference": {"mode": "nearest"}`
				}
				reply := dial(t, rs, test.member).run(test.command, more)
				if took := time.Since(began); number(reply, "code") != test.code || took != test.took {
					t.Errorf("after %v the reply is %v, want %d after %v", took, reply, test.code, test.took)
				}
			})
		})
	}
	t.Run("its time is limited", func(t *testing.T) {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			rs.Partition([]int{0})
			if got := dial(t, rs, 0).run(linearizableFind, `, "maxTimeMS": 100`); number(got, "code") != 50 {
				t.Errorf("the reply is %v, want 50", got)
			}
		})
	})
}
