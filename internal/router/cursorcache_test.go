package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A cursor that was looked for at each member is asked of its member alone afterwards, until that has it no longer.
func TestWhereACursorIsLookedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		first, other, end := w.twoRouters()
		defer end()
		id := first.run(bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 10}}).Lookup("cursor", "id").AsInt64()
		more := func() (code int64, asked int) {
			before := len(w.answered("getMore"))
			reply := other.run(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}, {Key: "batchSize", Value: 10}})
			code, _ = reply.Lookup("code").AsInt64OK()
			return code, len(w.answered("getMore")) - before
		}
		if code, _ := more(); code != 0 {
			w.Errorf("the code is %d", code)
		}
		if code, asked := more(); code != 0 || asked != 1 {
			w.Errorf("then %d members are asked, the code is %d", asked, code)
		}
		first.must(bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{id}}})
		if code, asked := more(); code != 43 || asked != 1 {
			w.Errorf("after its end %d members are asked, the code is %d", asked, code)
		}
		if code, asked := more(); code != 43 || asked != 3 {
			w.Errorf("of a cursor that is not known %d members are asked, the code is %d", asked, code)
		}
	})
}
