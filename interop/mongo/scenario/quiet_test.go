package scenario

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

type thing struct {
	ID   bson.ObjectID `bson:"_id,omitempty"`
	Name string        `bson:"name"`
	N    int           `bson:"n"`
}

func (s *stage) crud() {
	ctx, things := s.context(), s.collection("things")
	id, err := things.InsertOne(ctx, thing{Name: "one", N: 1})
	s.must(err)
	var got thing
	s.must(things.FindOne(ctx, byID(id), &got))
	expect[any](s, "the inserted document's _id", got.ID, id)
	expect(s, "its name", got.Name, "one")

	modified, err := things.UpdateOne(ctx, byID(id), increment())
	s.must(err)
	expect(s, "modified by the update", modified, 1)
	s.must(things.FindOneAndUpdate(ctx, byID(id), increment(), &got))
	expect(s, "n after two increments", got.N, 3)
	modified, err = things.ReplaceOne(ctx, byID(id), bson.D{{Key: "name", Value: "two"}})
	s.must(err)
	expect(s, "modified by the replacement", modified, 1)
	all, err := things.FindAll(ctx, bson.D{{Key: "name", Value: "two"}}, 10)
	s.must(err)
	expect(s, "found by the new name", len(all), 1)

	deleted, err := things.DeleteOne(ctx, byID(id))
	s.must(err)
	expect(s, "deleted", deleted, 1)
	s.must(things.Drop(ctx))
	expect(s, "documents left", len(s.set.ReadAll(database+".things")), 0)
}

func (s *stage) cursor() {
	const documents, batch = 250, 40
	ctx, rows := s.context(), s.collection("rows")
	var docs []any
	for i := range documents {
		docs = append(docs, byID(i))
	}
	ids, err := rows.InsertMany(ctx, docs)
	s.must(err)
	expect(s, "inserted", len(ids), documents)

	all, err := rows.FindAll(ctx, bson.D{}, batch)
	s.must(err)
	expect(s, "read", len(all), documents)
	for i, doc := range all {
		expect(s, "an _id in its order", doc.Lookup("_id").AsInt64(), int64(i))
	}
	expect(s, "further batches", len(s.journalOf("getMore")), documents/batch)
}
