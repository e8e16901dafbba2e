package mongo

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// FuzzAccept checks that no command panics at any reply.
func FuzzAccept(f *testing.F) {
	d := func(pairs ...any) bson.D {
		out := bson.D{}
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		return out
	}
	cursor := func(key string) bson.D {
		return d("ok", 1, "cursor", d("id", int64(7), "ns", "a.b", key, bson.A{d("_id", 1), d("_id", 2)}))
	}
	for _, doc := range []bson.D{
		cursor("firstBatch"), cursor("nextBatch"),
		d("ok", 1, "n", 1, "upserted", bson.A{d("index", 0, "_id", "x")}),
		d("ok", 1, "writeErrors", bson.A{d("index", 1, "code", 11000, "errmsg", "E11000", "errInfo", d("a", 1))}),
		d("ok", 1, "writeConcernError", d("code", 64, "codeName", "x", "errmsg", "y", "errInfo", d())),
		d("ok", 1, "value", d("a", 1)), d("ok", 1, "value", nil), d("ok", 1, "values", bson.A{1, "x"}),
		d("ok", 1, "cursor", d("id", 0, "ns", "a.b", "firstBatch", bson.A{d("_id", 1, "n", 3)})),
		d("ok", 1, "databases", bson.A{d("name", "x", "sizeOnDisk", 1, "empty", false)}, "totalSize", 1),
		d("ok", 1, "indexesCreated", bson.A{d("id", "1", "name", "x")}),
	} {
		b, err := bson.Marshal(doc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		var reply operation.Reply
		if reply.Parse(b) != nil {
			return
		}
		for _, c := range []operation.Command{
			&insertCommand{}, &batchCommand{batches: &batches{statements: make([]statement, 2)}, end: 2}, &statementCommand{}, &findCommand{}, &findCommand{cursor: new(Cursor)},
			&findAndModifyCommand{result: new(SingleResult)}, &getMoreCommand{cursor: new(Cursor)}, &killCursorsCommand{}, &plainCommand{},
			&plainCommand{accept: new(Cursor).accept}, &streamCommand{cursor: new(Cursor)},
			&plainCommand{accept: ignoring(countIn)}, &plainCommand{accept: ignoring(distinctIn)},
			&plainCommand{accept: ignoring(databasesIn)}, &plainCommand{accept: ignoring(searchIndexesIn)},
		} {
			_ = c.Accept(&reply)
		}
	})
}

func ignoring[T any](read func(*operation.Reply) (T, error)) func(*operation.Reply) error {
	return func(reply *operation.Reply) error {
		_, err := read(reply)
		return err
	}
}
