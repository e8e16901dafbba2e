package router_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A read preference is validated whether the command obeys it or not, also with a command that the router answers itself. A command that is
// refused reaches no member.
func TestEachCommandHasItsReadPreferenceValidated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.seed()
		c := w.dial()
		c.must(d("find", "c")) // the connections to the members exist
		transaction := []bson.E{
			e("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})), e("txnNumber", int64(1)), e("autocommit", false), e("startTransaction", true),
		}
		commands := map[string]bson.D{
			"a command on the list":            d("find", "c"),
			"a command off the list":           d("listCollections", 1),
			"a write":                          commandList["insert"].command,
			"an aggregation that writes":       commandList["aggregate $out"].command,
			"an unknown command":               d("dance", 1),
			"a getMore":                        command("getMore", int64(7), e("collection", "c")),
			"a killCursors":                    command("killCursors", "c", e("cursors", bson.A{int64(7)})),
			"a command in a transaction":       command("find", "c", transaction...),
			"the end of a transaction":         command("commitTransaction", 1, transaction[:3]...),
			"one that the router answers":      d("ping", 1),
			"a hello":                          d("hello", 1),
			"one that the router does not let": d("saslStart", 1),
		}
		for _, refused := range []struct {
			preference any
			want       outcome
		}{
			{"secondary", outcome{Code: 14, CodeName: "TypeMismatch", Text: "$readPreference has the BSON type string, it must be a document"}},
			{bson.D{}, outcome{Code: 40414, CodeName: "IDLFailedToParse", Text: "$readPreference has no mode"}},
			{bson.D{e("mode", "nearest"), e("mode", "nearest")}, outcome{Code: 40413, CodeName: "IDLDuplicateField", Text: "$readPreference has the field mode more than once"}},
			{d("mode", "Secondary"), outcome{Code: 2, CodeName: "BadValue", Text: `$readPreference has the mode "Secondary", which is unknown`}},
			{bson.D{e("mode", "primary"), taggedDC("nyc")}, outcome{Code: 2, CodeName: "BadValue", Text: "Only empty tags are allowed with primary read preference"}},
			{bson.D{e("mode", "nearest"), e("maxStalenessSeconds", 5)}, outcome{
				Code: 160, CodeName: "MaxStalenessOutOfRange", Text: "maxStalenessSeconds in $readPreference is 5, it must be at least 90",
			}},
			{bson.D{e("mode", "primary"), e("hedge", bson.D{})}, outcome{Code: 72, CodeName: "InvalidOptions", Text: "hedge is not allowed with primary read preference"}},
		} {
			before := len(w.set.Journal())
			for name, command := range commands {
				if got := c.outcomeOf(command, e("$readPreference", refused.preference)); got != refused.want {
					w.Errorf("%s with %v: %+v", name, refused.preference, got)
				}
			}
			if n := len(w.set.Journal()) - before; n != 0 {
				w.Errorf("%v: %d commands reached a member", refused.preference, n)
			}
		}
		for name, command := range commands { // what is valid is no obstacle
			if got := c.outcomeOf(command, preferring("nearest")); got.Code == 2 || got.Code == 14 {
				w.Errorf("%s: %+v", name, got)
			}
		}
	})
}
