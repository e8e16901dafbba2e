package router_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func pipelineOf(all ...bson.D) bson.E { return bson.E{Key: "pipeline", Value: all} }

// However it is asked, what belongs to others is not shown without the mark, and members are not even asked. All else goes on.
func TestTheMarkIsNeededHoweverItIsAsked(t *testing.T) {
	current := d("$currentOp", d("allUsers", true))
	deep := d("$match", bson.D{})
	for range 300 {
		deep = d("$facet", d("a", bson.A{deep})) // too deep to be read
	}
	cursor := bson.E{Key: "cursor", Value: bson.D{}}
	inFileWorld(t, func(w *world) {
		bob, ops := w.dial(), w.dial()
		for c, name := range map[*wireClient]string{bob: "bob", ops: "ops"} {
			if err := c.loginIn("admin", name, name); err != nil {
				w.Fatal(err)
			}
		}
		for _, command := range []bson.D{
			{{Key: "aggregate", Value: 1}, pipelineOf(current), cursor},
			{{Key: "aggregate", Value: "c"}, pipelineOf(d("$match", bson.D{}), d("$unionWith", bson.D{pipelineOf(current)})), cursor},
			{{Key: "aggregate", Value: "c"}, pipelineOf(d("$lookup", bson.D{pipelineOf(d("$listSessions", bson.D{}))})), cursor},
			{{Key: "aggregate", Value: "c"}, pipelineOf(d("$facet", d("a", bson.A{d("$listLocalSessions", bson.D{})}))), cursor},
			{{Key: "aggregate", Value: "c"}, pipelineOf(deep), cursor},
			{{Key: "aggregate", Value: "c"}, pipelineOf(), pipelineOf(current), cursor},
			{{Key: "explain", Value: bson.D{{Key: "aggregate", Value: 1}, pipelineOf(current), cursor}}},
			{{Key: "create", Value: "v"}, {Key: "viewOn", Value: "c"}, pipelineOf(current)},
			{{Key: "collMod", Value: "v"}, {Key: "viewOn", Value: "c"}, pipelineOf(current)},
			d("getLog", "global"), d("lockInfo", 1), d("killSessions", bson.A{}), d("find", "system.profile"),
		} {
			if o := bob.outcomeOf(command); o.Code != 13 || o.CodeName != "Unauthorized" {
				w.Errorf("%.80v: %+v", command, o)
			}
			if o := ops.outcomeOf(command); strings.Contains(o.Text, "mark") {
				w.Errorf("%.80v with the mark: %+v", command, o)
			}
		}
		if o := bob.outcomeIn("config", d("find", "system.sessions")); o.Code != 13 {
			w.Errorf("the sessions: %+v", o)
		}
		for _, command := range []bson.D{
			{{Key: "aggregate", Value: "c"}, pipelineOf(d("$match", d("currentOp", 1))), cursor},
			{{Key: "explain", Value: d("find", "c")}},
			d("find", "c"),
		} {
			bob.must(command)
		}
	})
}

// The old messages for a cursor need the mark as those of today do.
func TestTheMarkIsNeededInOldMessages(t *testing.T) {
	inFileWorld(t, func(w *world) {
		w.set.Insert("app.c", d("_id", 0), d("_id", 1), d("_id", 2), d("_id", 3), d("_id", 4))
		old := make(map[string]*oldClient)
		for _, name := range []string{"ann", "bob"} {
			c := w.dial()
			if err := c.loginIn("admin", name, name); err != nil {
				w.Fatal(err)
			}
			old[name] = &oldClient{world: w, conn: c.conn}
		}
		first := old["ann"].find(2, bson.D{})
		old["bob"].want(old["bob"].more(first.Cursor, 1), failed, false, 0, 1)
		old["bob"].send(wire.AppendKillCursors(nil, 4, []int64{first.Cursor}))
		old["bob"].run(d("ping", 1))
		old["ann"].want(old["ann"].more(first.Cursor, 1), capable, true, 2, 1)
	})
}
