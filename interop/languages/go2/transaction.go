package main

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func transaction(ctx context.Context, db *mongo.Database) error {
	if _, err := db.Collection("accounts").InsertMany(ctx, []item{{ID: 1, N: 100}, {ID: 2}}); err != nil {
		return err
	}
	session, err := db.Client().StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(within context.Context) (any, error) {
		if err := transfer(within, db, 1, 30); err != nil {
			return nil, err
		}
		return nil, expectBalance(ctx, db, "the balance outside before the commit", 100)
	})
	if err != nil {
		return err
	}
	if err := abort(ctx, db, session); err != nil {
		return err
	}
	o := &outcome{}
	o.must(expectBalance(ctx, db, "the balance at the end", 70))
	entries, err := db.Collection("ledger").CountDocuments(ctx, bson.D{})
	o.must(err)
	expect(o, "entries of the ledger", entries, 1)
	return o.err
}

// abort begins a transfer and thinks better of it.
func abort(ctx context.Context, db *mongo.Database, session *mongo.Session) error {
	if err := session.StartTransaction(); err != nil {
		return err
	}
	within := mongo.NewSessionContext(ctx, session)
	if err := transfer(within, db, 2, 50); err != nil {
		return err
	}
	if err := expectBalance(within, db, "the balance within", 20); err != nil {
		return err
	}
	return session.AbortTransaction(ctx)
}

func transfer(ctx context.Context, db *mongo.Database, entry, n int) error {
	accounts := db.Collection("accounts")
	if _, err := accounts.UpdateOne(ctx, byID(1), increment(-n)); err != nil {
		return err
	}
	if _, err := accounts.UpdateOne(ctx, byID(2), increment(n)); err != nil {
		return err
	}
	_, err := db.Collection("ledger").InsertOne(ctx, item{ID: entry, N: n})
	return err
}

func expectBalance(ctx context.Context, db *mongo.Database, what string, want int) error {
	var (
		o       outcome
		account item
	)
	o.must(db.Collection("accounts").FindOne(ctx, byID(1)).Decode(&account))
	expect(&o, what, account.N, want)
	return o.err
}
