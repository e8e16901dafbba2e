package router

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Two users may choose the same id. What no member takes for an id is none.
func TestTheSessionOfACommand(t *testing.T) {
	binary := func(n int) any { return bson.Binary{Subtype: 4, Data: make([]byte, n)} }
	of := func(user string, value any) session {
		c := &client{account: &account{id: id{"app", user}}}
		body := marshal(t, bson.D{{Key: "insert", Value: "c"}, {Key: "lsid", Value: bson.D{{Key: "id", Value: value}}}})
		return c.sessionOf(&command{ClientMessage: wire.ClientMessage{Body: body}})
	}
	anns, bobs := of("ann", binary(16)), of("bob", binary(16))
	if !anns.known || anns == bobs || anns != of("ann", binary(16)) {
		t.Errorf("the sessions are %v and %v", anns, bobs)
	}
	for _, value := range []any{binary(15), binary(17), "0123456789abcdef", nil} {
		if s := of("ann", value); s.known {
			t.Errorf("the id %v is that of the session %v", value, s)
		}
	}
}
