package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A version of the stable API that there is not is refused, and what needs a version without one, whoever answers the command.
func TestTheVersionOfTheStableAPI(t *testing.T) {
	version := func(v any) bson.E { return bson.E{Key: "apiVersion", Value: v} }
	strict := func(v any) bson.E { return bson.E{Key: "apiStrict", Value: v} }
	deprecation := func(v any) bson.E { return bson.E{Key: "apiDeprecationErrors", Value: v} }
	inWorld(t, func(w *world) {
		c := w.dial()
		for _, command := range []bson.D{d("ping", 1), d("hello", 1), d("count", "c")} {
			for _, v := range []struct {
				fields []bson.E
				code   int32
			}{
				{[]bson.E{version("1")}, 0},
				{[]bson.E{version("1"), strict(true), deprecation(true)}, 0},
				{[]bson.E{strict(false), version("1")}, 0},
				{[]bson.E{version(nil), strict(nil)}, 0},
				{[]bson.E{version("2")}, 322},
				{[]bson.E{version(1)}, 14},
				{[]bson.E{version("1"), strict(1)}, 14},
				{[]bson.E{strict(true)}, 4886600},
				{[]bson.E{deprecation(false)}, 4886600},
				{[]bson.E{version(nil), strict(true)}, 4886600},
			} {
				o := c.outcomeOf(command, v.fields...)
				if o.Code != v.code {
					w.Errorf("%v with %v: %+v, want %d", command, v.fields, o, v.code)
				}
			}
		}
	})
}
