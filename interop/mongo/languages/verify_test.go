package languages

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// verifier looks at a set after a client has played the scenario.
type verifier struct {
	t   *testing.T
	set *mongotest.Deployment
	w   *witness
}

// sameDriver checks that the handshakes were this driver's, and nobody else's.
func (v verifier) sameDriver(said []string, want string) {
	if len(said) != 1 || !strings.HasPrefix(said[0], want) {
		v.t.Errorf("the handshakes were those of %q, want %q", said, want)
	}
}

// reading checks that the cursor was read in batches, and that there was a third change stream besides the two that the
// program opens: the one that the driver opened when its connection had been broken.
func (v verifier) reading() {
	if got := v.w.count(batch); got != 12 {
		v.t.Errorf("the cursor was asked for more %d times, want 12", got)
	}
	if got := v.w.count(stream); got != 3 {
		v.t.Errorf("%d change streams were opened, want 3", got)
	}
}

// documents checks what the scenario leaves.
func (v verifier) documents() {
	v.t.Helper()
	for collection, want := range map[string][]any{
		"crud": {
			item(1, "fruit", "apple", 12),
			item(2, "fruit", "quince", 3),
			item(3, "fruit", "plum", 4),
			item(6, "vegetable", "beet", 7),
			item(7, "herb", "dill", 70),
		},
		"cursor":   numbered(250),
		"accounts": {counter(1, 70), counter(2, 30)},
		"ledger":   {counter(1, 30)},
		"stream":   {counter(1, 10), bson.M{"_id": 3}, bson.M{"_id": 4}, bson.M{"_id": 5}, bson.M{"_id": 6}, bson.M{"_id": 7}},
		"lost":     {counter(1, 1)},
		"failover": numbered(200),
	} {
		v.set.CheckDocuments(v.t, "interop."+collection, want...)
	}
}

func item(id int, kind, name string, n int) bson.M {
	return bson.M{"_id": id, "kind": kind, "name": name, "n": n}
}

func counter(id, n int) bson.M { return bson.M{"_id": id, "n": n} }

func numbered(n int) []any {
	docs := make([]any, n)
	for i := range docs {
		docs[i] = bson.M{"_id": i}
	}
	return docs
}

// commands checks that what the scenario asks for was asked of the server, and as often as it should.
func (v verifier) commands() {
	v.t.Helper()
	for name, want := range map[string]int{
		"commitTransaction": 1, "abortTransaction": 1, "configureFailPoint": 2, "replSetStepDown": 1,
	} {
		v.set.CheckCommands(v.t, name, want)
	}
}

// lostReply checks that the update was applied without an answer, then sent again and answered from the session's record.
func (v verifier) lostReply() {
	attempts := v.journal("update", "lost")
	if len(attempts) != 2 {
		v.t.Fatalf("there were %d attempts, want 2", len(attempts))
	}
	first, second := attempts[0], attempts[1]
	if !first.Applied || first.Answered || !second.Deduplicated || second.Applied || first.TxnNumber != second.TxnNumber {
		v.t.Errorf("the attempts were\n%v\n%v", &first, &second)
	}
}

// failOvers checks that there was a step-down and a crash, and that each insert was applied once for good.
func (v verifier) failOvers(term int64, crashAt string) {
	if elections := v.set.Term() - term; elections < 2 {
		v.t.Errorf("there were %d elections, want two: after the step-down and the crash", elections)
	}
	applied, deduplicated := make(map[int64]int), make(map[int64]bool)
	for _, e := range v.journal("insert", "failover") {
		id := e.Statement.Lookup("_id").AsInt64()
		if e.Applied && !e.RolledBack {
			applied[id]++
		}
		deduplicated[id] = deduplicated[id] || e.Deduplicated
	}
	for id := range int64(200) {
		if applied[id] != 1 {
			v.t.Errorf("%d was applied %d times", id, applied[id])
		}
	}
	if crashAt == "insert" && !deduplicated[crash] {
		v.t.Errorf("the insert that the crash left unanswered was not answered from the session's record")
	}
}

func (v verifier) journal(command, collection string) []mongotest.Entry {
	return slices.DeleteFunc(v.set.Journal(), func(e mongotest.Entry) bool {
		return e.Command != command || e.Namespace != "interop."+collection
	})
}
