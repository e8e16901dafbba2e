package simulation

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
)

func inTransaction() *options.TransactionOptionsBuilder {
	return options.Transaction().SetReadConcern(readconcern.Snapshot()).SetReadPreference(readpref.Primary()).
		SetWriteConcern(writeconcern.Majority())
}

// session starts a session. It returns nil and notes a violation if there is none.
func (w *worker) session(o *operation, opts ...options.Lister[options.SessionOptions]) *mongo.Session {
	session, err := w.client.StartSession(opts...)
	if err != nil {
		w.history.violated("result", "%s: a session: %v", o.id, err)
	}
	return session
}

// transfer reads some accounts, writes values that depend on those that it read, and inserts a document, by WithTransaction.
func (w *worker) transfer(ctx context.Context, o *operation) {
	session := w.session(o)
	if session == nil {
		return
	}
	defer session.EndSession(context.Background())
	c := w.start(o, w.transaction(o))
	replaces := o.IntN(2) == 0
	_, err := session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		return nil, w.inner(ctx, c, replaces)
	}, inTransaction())
	w.endTransaction(c, err)
}

// transaction returns the call of a transaction on accounts.
func (w *worker) transaction(o *operation) *call {
	writes := append(pushes(accounts, w.some(o, 2+o.IntN(2))), write{ns: lives, effect: insert})
	return &call{writes: writes, atomic: true}
}

// endTransaction reads what the error of a transaction claims: the label, or a write concern error, says that the commit's outcome
// is unknown. Any other error means that nothing was committed.
func (w *worker) endTransaction(c *call, err error) {
	w.history.end(c, err)
	if err == nil {
		w.own(c)
		return
	}
	c.claim = notApplied
	if labeled(err, "UnknownTransactionCommitResult") || concernFailed(err) {
		c.claim = unknown
	}
	c.claimAll(c.claim)
}

// inner is the function of a transaction. It may be called several times.
func (w *worker) inner(ctx context.Context, c *call, replaces bool) error {
	c.reads = c.reads[:0]
	failed := func(err error) error {
		c.inner = append(c.inner, reportOf(err))
		return err
	}
	for i := range c.writes {
		x := c.writes[i]
		if x.effect == insert {
			if _, err := w.collection(lives).InsertOne(ctx, newborn(x.token), options.InsertOne().SetComment(c.id)); err != nil {
				return failed(err)
			}
			continue
		}
		var d document
		if err := w.collection(x.ns).FindOne(ctx, byID(x.doc), options.FindOne().SetComment(c.id)).Decode(&d); err != nil {
			return failed(err)
		}
		c.reads = append(c.reads, read{ns: x.ns, doc: x.doc, level: snapshot, log: d.Log, n: d.N})
		if err := w.put(ctx, c, d.changed(x.token), replaces); err != nil {
			return failed(err)
		}
	}
	return nil
}

// put writes a document that depends on the one that was read, so that a lost update shows.
func (w *worker) put(ctx context.Context, c *call, d document, replaces bool) error {
	if replaces {
		_, err := w.collection(accounts).ReplaceOne(ctx, byID(d.ID), d, options.Replace().SetComment(c.id))
		return err
	}
	update := bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: d.N}, {Key: "log", Value: d.Log}, {Key: "last", Value: d.Last}}}}
	_, err := w.collection(accounts).UpdateOne(ctx, byID(d.ID), update, options.UpdateOne().SetComment(c.id))
	return err
}

// transactionByHand starts, commits and aborts a transaction without WithTransaction. It does not begin again.
func (w *worker) transactionByHand(ctx context.Context, o *operation) {
	session := w.session(o)
	if session == nil {
		return
	}
	defer session.EndSession(context.Background())
	c := w.start(o, w.transaction(o))
	inside := mongo.NewSessionContext(ctx, session)
	err := session.StartTransaction(inTransaction())
	if err == nil {
		err = w.inner(inside, c, o.IntN(2) == 0)
	}
	if err != nil || o.IntN(8) == 0 {
		ending, cancel := context.WithTimeout(context.WithoutCancel(inside), 10*time.Second)
		defer cancel()
		if aborted := session.AbortTransaction(ending); err == nil {
			w.history.end(c, aborted)
			c.claimAll(notApplied)
			c.reads = nil // of a transaction that is not committed
			return
		}
		w.endTransaction(c, err)
		c.claim = notApplied // there was no commit
		c.claimAll(notApplied)
		return
	}
	w.endTransaction(c, session.CommitTransaction(inside))
}

// readTransaction reads several accounts in a transaction.
func (w *worker) readTransaction(ctx context.Context, o *operation) {
	session := w.session(o)
	if session == nil {
		return
	}
	defer session.EndSession(context.Background())
	c := w.start(o, &call{})
	docs := w.some(o, 4)
	_, err := session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		c.reads = c.reads[:0]
		return nil, w.readAccounts(ctx, c, docs)
	}, inTransaction())
	w.endTransaction(c, err)
}

// snapshotSession reads several accounts in a snapshot session, from any member.
func (w *worker) snapshotSession(ctx context.Context, o *operation) {
	session := w.session(o, options.Session().SetSnapshot(true))
	if session == nil {
		return
	}
	defer session.EndSession(context.Background())
	c := w.start(o, &call{})
	err := w.readAccounts(mongo.NewSessionContext(ctx, session), c, w.some(o, 4))
	w.history.end(c, err)
}

func (w *worker) readAccounts(ctx context.Context, c *call, docs []string) error {
	for _, doc := range docs {
		var d document
		if err := w.collection(accounts).FindOne(ctx, byID(doc), options.FindOne().SetComment(c.id)).Decode(&d); err != nil {
			c.inner = append(c.inner, reportOf(err))
			return err
		}
		c.reads = append(c.reads, read{ns: accounts, doc: doc, level: snapshot, log: d.Log, n: d.N})
	}
	return nil
}

func labeled(err error, label string) bool {
	e, ok := err.(mongo.LabeledError) //nolint:errorlint // the label is the outermost error's
	return ok && e.HasErrorLabel(label)
}
