package compare

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

func concern(w any, journal *bool) *options.CollectionOptionsBuilder {
	return options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: w, Journal: journal})
}

var writeConcernRows = func() []row {
	var rows []row
	for _, c := range []struct {
		name string
		o    *options.CollectionOptionsBuilder
		text string
	}{
		{"w: 0", concern(0, nil), ""},
		{"w: 0 and j: true", concern(0, &yes), "a write concern cannot have both w=0 and j=true"},
		{"w: 0 and j: false", concern(0, &no), ""},
		{"w: -3", concern(-3, nil), "write concern `w` field cannot be a negative number"},
		{"w: 1.5", concern(1.5, nil), "WriteConcern.W must be a string or int, but is a float64"},
		{"w: an empty string", concern("", nil), ""},
		{"w: majority", concern("majority", nil), ""},
		{"w: 2 of 1", concern(2, nil), ""},
		{"an empty write concern", concern(nil, nil), ""},
	} {
		for _, call := range []struct {
			name string
			do   call
		}{
			{"insertOne", insertOne(one)},
			{"insertMany", insertMany([]any{one})},
			{"updateOne", updateOne(byID, inc)},
			{"replaceOne", replaceOne(byID, bson.D{{Key: "x", Value: 1}})},
			{"deleteOne", deleteOf},
			{"findOneAndUpdate", changeOf},
			{"findOne", findOne(byID)},
			{"drop", dropOf},
		} {
			r := row{name: c.name + ", " + call.name, do: on(c.o, call.do)}
			if call.name != "findOne" {
				r.text = c.text
			}
			switch {
			case c.name == "w: 2 of 1" && call.name == "drop":
				r.differ, r.why = []string{"error"}, "the official driver returns an error of an internal type"
			case c.name == "w: 2 of 1" && slices.Contains([]string{"updateOne", "replaceOne", "deleteOne"}, call.name):
				r.differ, r.why = []string{"result"}, "the write was applied, so there is a result"
			}
			rows = append(rows, r)
		}
	}
	return rows
}()
