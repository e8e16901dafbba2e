package unified

import (
	"bytes"
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// setInitialData makes the collections what the file says that they are before each case.
func (c *run) setInitialData(ctx context.Context) error {
	for _, data := range c.file.InitialData {
		db := c.internal.Database(data.DatabaseName, options.Database().SetWriteConcern(writeconcern.Majority()))
		if err := recreate(ctx, db, data); err != nil {
			return fmt.Errorf("%s.%s: %w", data.DatabaseName, data.CollectionName, err)
		}
	}
	return nil
}

func recreate(ctx context.Context, db *mongoDatabase, data collectionData) error {
	for _, name := range []string{data.CollectionName, "enxcol_." + data.CollectionName + ".esc", "enxcol_." + data.CollectionName + ".ecoc"} {
		if err := db.Collection(name).Drop(ctx); err != nil {
			return fmt.Errorf("drop: %w", err)
		}
	}
	if data.CreateOptions != nil || len(data.Documents) == 0 {
		if err := create(ctx, db, data); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	if len(data.Documents) > 0 {
		if _, err := db.Collection(data.CollectionName).InsertMany(ctx, data.Documents); err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	return nil
}

// create runs the command itself, because options may be some that no client's method has.
func create(ctx context.Context, db *mongoDatabase, data collectionData) error {
	command := bson.D{{Key: "create", Value: data.CollectionName}}
	elements, err := data.CreateOptions.Elements()
	if err != nil && data.CreateOptions != nil {
		return err
	}
	for _, e := range elements {
		command = append(command, bson.E{Key: e.Key(), Value: e.Value()})
	}
	concern := bson.D{{Key: "w", Value: "majority"}}
	return db.RunCommand(ctx, append(command, bson.E{Key: "writeConcern", Value: concern})).Err()
}

// checkOutcome compares what the collections have at the end. The documents must be the same but for the order of their keys.
func (c *run) checkOutcome(ctx context.Context) error {
	for _, want := range c.test.Outcome {
		got, err := c.contents(ctx, want)
		if err != nil {
			return err
		}
		if len(got) != len(want.Documents) {
			return fmt.Errorf("%s: want %d documents, got %d: %v", want.CollectionName, len(want.Documents), len(got), got)
		}
		for i := range got {
			if !sameDocument(want.Documents[i], got[i]) {
				return fmt.Errorf("%s, document %d: want %v, got %v", want.CollectionName, i, want.Documents[i], got[i])
			}
		}
	}
	return nil
}

func (c *run) contents(ctx context.Context, of collectionData) ([]bson.Raw, error) {
	concerns := options.Collection().SetReadConcern(readconcern.Local()).SetReadPreference(readpref.Primary())
	collection := c.internal.Database(of.DatabaseName).Collection(of.CollectionName, concerns)
	found, err := collection.Find(ctx, bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var docs []bson.Raw
	return docs, found.All(ctx, &docs)
}

// sameDocument compares documents exactly, but for the order of keys.
func sameDocument(a, b bson.Raw) bool {
	x, errA := a.Elements()
	y, errB := b.Elements()
	if errA != nil || errB != nil || len(x) != len(y) {
		return false
	}
	for _, e := range x {
		if !sameValue(e.Value(), field(b, e.Key())) {
			return false
		}
	}
	return true
}

func sameValue(a, b bson.RawValue) bool {
	switch {
	case a.Type != b.Type:
		return false
	case a.Type == bson.TypeEmbeddedDocument || a.Type == bson.TypeArray:
		return sameDocument(a.Value, b.Value)
	}
	return bytes.Equal(a.Value, b.Value)
}
