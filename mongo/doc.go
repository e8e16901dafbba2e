// Package mongo is a MongoDB client with the API of the official driver, go.mongodb.org/mongo-driver/v2/mongo. A program
// changes that one import to this one. It keeps the official packages bson, options, readpref, readconcern, writeconcern
// and event. Errors and results have the official types.
//
// The client retries reads and writes by the rules of the Retryable Reads, Retryable Writes and Client Backpressure
// specifications, and its errors contain the history of the attempts.
//
//	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost:27017/?replicaSet=rs0"))
//	if err != nil {
//		return err
//	}
//	defer client.Disconnect(ctx)
//	counters := client.Database("app").Collection("counters")
//	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
//	_, err = counters.UpdateOne(ctx, bson.D{{Key: "_id", Value: "visits"}}, increment, options.UpdateOne().SetUpsert(true))
//	var history *retry.Error
//	if errors.As(err, &history) && !history.OutcomeKnown() {
//		// the operation may have been applied
//	}
//
// [Connect] returns a [Client]; [Open] does too, with settings that the official options lack ([Config]).
//
// # Retries and time
//
// Reads and acknowledged writes are retried once after a retryable error or, if the context has a deadline, until the deadline.
// What an overloaded server refuses is retried with backoff, at most maxAdaptiveRetries times (default 2). Writes to a
// standalone, UpdateMany, DeleteMany and bulk writes that have such a model, all operations in a transaction but its end,
// [Database.RunCommand], the later commands of a [Cursor], aggregations that write, and commands that create or drop something
// are retried for overload only. An operation ends at most 5 ms after its context. The option timeoutMS limits each operation
// whose context has no deadline.
//
// # Errors
//
// The type of an error does not depend on the number of attempts. The error of every operation that went to a server, or for which
// none could be selected, contains a [*retry.Error]: the stage, the reason and the server of each attempt, why there was no
// other one, and whether the outcome is known.
//
// # Concurrency and limits
//
// A [Client], a [Database], a [Collection], an [IndexView] and a [GridFSBucket] are safe for concurrent use. A [Session], a
// [Cursor], a [ChangeStream], a [SingleResult] and the streams of a bucket are not. [Client.Disconnect] stops all goroutines of the client.
//
// An option that is not supported is an error that names it, except URI options that no driver has and the old ones that
// docs/OPTIONS.md lists as ignored.
// The names of client-side encryption exist, so that programs compile; their methods return an error.
// BatchCursorFromCursor does not exist. [Connect] refuses the mechanism GSSAPI and automatic encryption; of certificates that were
// revoked it knows by OCSP only. Servers must be MongoDB 3.6 or newer. A document with more than 10,000
// levels is refused. The page docs/CLIENT.md of the repository has the rest.
package mongo
