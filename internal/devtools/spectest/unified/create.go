package unified

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// description of an entity: one of these is set.
type entityDescription struct {
	Client           *clientDescription     `bson:"client"`
	Database         *databaseDescription   `bson:"database"`
	Collection       *collectionDescription `bson:"collection"`
	Session          *sessionDescription    `bson:"session"`
	Bucket           *bucketDescription     `bson:"bucket"`
	Thread           *threadDescription     `bson:"thread"`
	ClientEncryption bson.RawValue          `bson:"clientEncryption"`
}

type databaseDescription struct {
	ID              string        `bson:"id"`
	Client          string        `bson:"client"`
	DatabaseName    string        `bson:"databaseName"`
	DatabaseOptions bson.RawValue `bson:"databaseOptions"`
}

type collectionDescription struct {
	ID                string        `bson:"id"`
	Database          string        `bson:"database"`
	CollectionName    string        `bson:"collectionName"`
	CollectionOptions bson.RawValue `bson:"collectionOptions"`
}

type sessionDescription struct {
	ID             string   `bson:"id"`
	Client         string   `bson:"client"`
	SessionOptions bson.Raw `bson:"sessionOptions"`
}

type bucketDescription struct {
	ID            string        `bson:"id"`
	Database      string        `bson:"database"`
	BucketOptions bson.RawValue `bson:"bucketOptions"`
}

type threadDescription struct {
	ID string `bson:"id"`
}

func (c *run) createAll(ctx context.Context, docs []bson.Raw) error {
	for _, doc := range docs {
		var d entityDescription
		if err := decode(doc, &d); err != nil {
			return err
		}
		id, e, err := c.create(ctx, d)
		err = ifMissing(err)
		if err == nil {
			err = c.entities.add(id, e)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

func (c *run) create(ctx context.Context, d entityDescription) (string, any, error) {
	switch {
	case d.Client != nil:
		e, err := c.connect(ctx, d.Client)
		return d.Client.ID, e, err
	case d.Database != nil:
		e, err := c.database(d.Database)
		return d.Database.ID, e, err
	case d.Collection != nil:
		e, err := c.collection(d.Collection)
		return d.Collection.ID, e, err
	case d.Session != nil:
		e, err := c.session(d.Session)
		return d.Session.ID, e, err
	case d.Bucket != nil:
		e, err := c.bucket(d.Bucket)
		return d.Bucket.ID, e, err
	case d.Thread != nil:
		return d.Thread.ID, newThread(ctx, c), nil
	}
	return "clientEncryption", nil, errors.New("clientEncryption is not supported by this runner")
}

func (c *run) database(d *databaseDescription) (*mongoDatabase, error) {
	client, err := entityNamed[*clientEntity](c.entities, d.Client)
	if err != nil {
		return nil, err
	}
	opts := options.Database()
	if d.DatabaseOptions.Type != 0 {
		if err := setAll(opts, d.DatabaseOptions); err != nil {
			return nil, fmt.Errorf("databaseOptions: %w", err)
		}
	}
	return client.Database(d.DatabaseName, opts), nil
}

func (c *run) collection(d *collectionDescription) (*mongoCollection, error) {
	db, err := entityNamed[*mongoDatabase](c.entities, d.Database)
	if err != nil {
		return nil, err
	}
	opts := options.Collection()
	if d.CollectionOptions.Type != 0 {
		if err := setAll(opts, d.CollectionOptions); err != nil {
			return nil, fmt.Errorf("collectionOptions: %w", err)
		}
	}
	return db.Collection(d.CollectionName, opts), nil
}

func (c *run) session(d *sessionDescription) (*mongoSession, error) {
	client, err := entityNamed[*clientEntity](c.entities, d.Client)
	if err != nil {
		return nil, err
	}
	opts := options.Session()
	a, err := newArguments(c, d.SessionOptions)
	if err != nil {
		return nil, err
	}
	if at := a.optional("snapshotTime"); at.Type != 0 {
		saved, err := entity[bson.RawValue](c.entities, at)
		if err != nil {
			return nil, err
		}
		t, i, ok := saved.TimestampOK()
		if !ok {
			return nil, fmt.Errorf("snapshotTime: %v is not a timestamp", saved)
		}
		opts.SetSnapshotTime(bson.Timestamp{T: t, I: i})
	}
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return client.StartSession(opts)
}

func (c *run) bucket(d *bucketDescription) (*mongoBucket, error) {
	db, err := entityNamed[*mongoDatabase](c.entities, d.Database)
	if err != nil {
		return nil, err
	}
	opts := options.GridFSBucket()
	if d.BucketOptions.Type != 0 {
		if err := setAll(opts, d.BucketOptions); err != nil {
			return nil, fmt.Errorf("bucketOptions: %w", err)
		}
	}
	return db.GridFSBucket(opts), nil
}
