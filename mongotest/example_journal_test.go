package mongotest_test

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The journal shows each attempt of a write: this one was applied by the first, whose reply was lost.
func ExampleEntry() {
	rs, counters, end := runSet()
	defer end()

	rs.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	_, err := counters.UpdateByID(ctx, 1, increment)
	fmt.Println(err)
	for _, e := range rs.Journal() {
		if e.Command == "update" {
			fmt.Println(e.Namespace, "applied:", e.Applied, "reply lost:", e.ReplyLost, "deduplicated:", e.Deduplicated)
		}
	}

	// Output:
	// <nil>
	// test.counters applied: true reply lost: true deduplicated: false
	// test.counters applied: false reply lost: false deduplicated: true
}
