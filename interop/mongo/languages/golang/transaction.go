package main

import (
	"context"
)

func transaction(ctx context.Context, db *Database) error {
	if _, err := db.Collection("accounts").InsertMany(ctx, asMany([]item{{ID: 1, N: 100}, {ID: 2}})); err != nil {
		return err
	}
	session, err := db.Client().StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	err = withTransaction(ctx, session, func(within context.Context) error {
		if err := transfer(within, db, 1, 30); err != nil {
			return err
		}
		return expectBalance(ctx, db, "the balance outside before the commit", 100)
	})
	if err != nil {
		return err
	}
	if err := abort(ctx, db, session); err != nil {
		return err
	}
	o := &outcome{}
	o.must(expectBalance(ctx, db, "the balance at the end", 70))
	entries, err := db.Collection("ledger").CountDocuments(ctx, D{})
	o.must(err)
	expect(o, "entries of the ledger", entries, 1)
	return o.err
}

// abort begins a transfer and thinks better of it.
func abort(ctx context.Context, db *Database, session Session) error {
	if err := session.StartTransaction(); err != nil {
		return err
	}
	within := newSessionContext(ctx, session)
	if err := transfer(within, db, 2, 50); err != nil {
		return err
	}
	if err := expectBalance(within, db, "the balance within", 20); err != nil {
		return err
	}
	return session.AbortTransaction(ctx)
}

func transfer(ctx context.Context, db *Database, entry, n int) error {
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

func expectBalance(ctx context.Context, db *Database, what string, want int) error {
	var (
		o       outcome
		account item
	)
	o.must(db.Collection("accounts").FindOne(ctx, byID(1)).Decode(&account))
	expect(&o, what, account.N, want)
	return o.err
}
