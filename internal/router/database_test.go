package router_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions
func TestACommandNeedsADatabase(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		for _, test := range []struct {
			rule string
			db   any // nil: none
			code int32
		}{
			{"an OP_MSG has $db", nil, 40571},
			{"which is a string", 1, 14},
			{"", bson.D{}, 14},
			{"that is not empty", "", 73},
			{"and has no dot", "a.b", 73},
			{"no space", "a b", 73},
			{"no slash", "a/b", 73},
			{"no backslash", `a\b`, 73},
			{"no quotation mark", `a"b`, 73},
			{"no dollar sign", "$a", 73},
			{"no NUL", "a\x00b", 73},
			{"at most 63 bytes", strings.Repeat("a", 64), 73},
			{"which it may have", strings.Repeat("a", 63), 0},
			{"the users of others are in $external", "$external", 0},
		} {
			for _, name := range []string{"listCollections", "ping"} { // a member answers one, the router the other
				command := d(name, 1)
				if test.db != nil {
					command = append(command, bson.E{Key: "$db", Value: test.db})
				}
				document, err := bson.Marshal(command)
				if err != nil {
					w.Fatal(err)
				}
				reply, err := c.try(document)
				if err != nil {
					w.Fatalf("%s: %v: %v", test.rule, command, err)
				}
				var o outcome
				if err := bson.Unmarshal(reply, &o); err != nil || o.Code != test.code {
					w.Errorf("%s: %v: %+v, %v, want %d", test.rule, command, o, err, test.code)
				}
			}
		}
		if n := len(w.answered("listCollections")); n != 2 {
			w.Errorf("%d commands came to a member, want those with a valid name", n)
		}
	})
}
