package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A version of the stable API that there is not is refused, whoever answers the command.
func TestTheVersionOfTheStableAPI(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.dial()
		for _, command := range []bson.D{d("ping", 1), d("hello", 1), d("count", "c")} {
			for _, v := range []struct {
				version any
				code    int32
			}{{"1", 0}, {"2", 322}, {1, 14}} {
				o := c.outcomeOf(command, bson.E{Key: "apiVersion", Value: v.version})
				if o.Code != v.code {
					w.Errorf("%v with apiVersion %v: %+v, want %d", command, v.version, o, v.code)
				}
			}
		}
	})
}
