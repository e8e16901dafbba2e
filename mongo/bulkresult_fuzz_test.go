package mongo

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// FuzzOpResult gives arbitrary documents to the decoder of a result of Client.BulkWrite, and arbitrary replies to its command.
func FuzzOpResult(f *testing.F) {
	for _, doc := range []bson.D{
		{{Key: "ok", Value: 1.0}, {Key: "idx", Value: int32(0)}, {Key: "n", Value: int32(1)}, {Key: "upserted", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "ok", Value: 0.0}, {Key: "idx", Value: int32(0)}, {Key: "code", Value: int32(11000)}, {Key: "errmsg", Value: "E11000"}, {Key: "errInfo", Value: bson.D{}}},
		{{Key: "ok", Value: 1}, {Key: "nErrors", Value: "many"}, {Key: "cursor", Value: bson.D{{Key: "id", Value: int64(7)}, {Key: "firstBatch", Value: bson.A{bson.D{}, 5}}}}},
	} {
		b, err := bson.Marshal(doc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = readOpResult(bson.Raw(b))
		var reply operation.Reply
		if reply.Parse(b) == nil {
			_ = (&clientBulkCommand{cursor: new(Cursor)}).Accept(&reply)
		}
	})
}
