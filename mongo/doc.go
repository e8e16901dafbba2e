// Package mongo is a MongoDB client with the API of the official driver, go.mongodb.org/mongo-driver/v2/mongo. A program
// changes that one import to this one. It keeps the official packages bson, options, readpref, readconcern, writeconcern
// and event. Errors and results have the official types.
//
// The client retries reads and writes by the rules of the Retryable Reads, Retryable Writes and Client Backpressure
// specifications, and its errors contain the history of the attempts.
//
// # Main types
//
//   - [Client] is a handle for one deployment: a standalone, a replica set or a sharded cluster. [Connect] returns one.
//   - [Database] and [Collection] are handles for a database and a collection.
//   - [Cursor] iterates over the documents that [Collection.Find] found.
//   - [SingleResult] is the result of an operation that returns one document.
//
// # Example
//
//	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost:27017/?replicaSet=rs0"))
//	if err != nil {
//		return err
//	}
//	defer client.Disconnect(ctx)
//
//	counters := client.Database("app").Collection("counters")
//	day := bson.D{{Key: "_id", Value: "2016-06-28"}}
//	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
//	_, err = counters.UpdateOne(ctx, day, increment, options.UpdateOne().SetUpsert(true))
//	if err != nil {
//		return err
//	}
//	var counter struct{ N int }
//	err = counters.FindOne(ctx, day).Decode(&counter)
//
// The example of the package is a whole program, with a server for tests from package mongotest.
//
// # Retries and time limits
//
// Reads and acknowledged writes are retried once after a retryable error or, if the context has a deadline, until the
// deadline. An operation that an overloaded server refuses is retried with backoff, at most maxAdaptiveRetries times
// (default 2). Writes to a standalone, [Database.RunCommand], [Collection.Drop] and the later commands of a [Cursor] are
// retried for overload only. retryReads=false disables the retries of reads, retryWrites=false those of writes. The page
// docs/RETRIES.md of the repository has all rules.
//
// The option timeoutMS limits each operation whose context has no deadline; for an InsertMany, all its commands together.
// A deadline is sent to the server as maxTimeMS, except by the commands of a cursor that the program closes itself (Find
// and getMore), by a RunCommand that has a maxTimeMS, and if it is further away than the servers accept (24.8 days). A nil
// context means [context.Background]. An operation ends at most 5 ms after its context. connectTimeoutMS=0 and
// serverSelectionTimeoutMS=0 mean no timeout.
//
// # Options
//
// An option that is not honoured is an error that names it, never ignored. [Connect] and the handles check their options
// before any network use; a handle returns the error from its operations. These client options are honoured, as options
// of the connection string or as setters of options.ClientOptions:
//
//	appName                       localThresholdMS        readPreferenceTags
//	connectTimeoutMS              maxAdaptiveRetries      replicaSet
//	directConnection              maxConnecting           retryReads
//	enableOverloadRetargeting     maxIdleTimeMS           retryWrites
//	heartbeatFrequencyMS          maxPoolSize             serverMonitoringMode
//	journal                       maxStalenessSeconds     serverSelectionTimeoutMS
//	loadBalanced (only false)     minPoolSize             timeoutMS
//	                              readConcernLevel        w
//	                              readPreference
//
// These options of the connection string are accepted too. They change nothing: tls=false, ssl=false, tlsInsecure=false,
// tlsAllowInvalidCertificates=false, tlsAllowInvalidHostnames=false, socketTimeoutMS=0,
// uuidRepresentation=standard (or unspecified), authSource without a user, and slaveOk, which the official driver ignores.
//
// These options are setters only: BSONOptions, Dialer, LoggerOptions, Monitor, PoolMonitor, Registry and ServerMonitor. SetHTTPClient has no effect,
// because it is for TLS only. Options of operations are honoured, except for tailable cursors (CursorType, MaxAwaitTime) and
// OplogReplay of Find and FindOne, and EncryptedFields of Drop.
//
// # Errors
//
// Errors have the official types, for example [CommandError], [WriteException] and [BulkWriteException], with the official
// codes and labels. [IsTimeout], [IsNetworkError] and [IsDuplicateKeyError] report the kind of an error. A server selection
// timeout and the server's error MaxTimeMSExpired match [context.DeadlineExceeded]. A sort, a hint or a command that is a
// map with several keys is refused with [ErrMapForOrderedArgument]. A document over the server's maxBsonObjectSize is not
// sent; its error is a write error with code 10334.
//
// After more than one attempt the error contains the history. So does the error of a single attempt if the reason for not
// retrying it is not obvious. The history has the stage, the reason and the server of each attempt, says why there was no
// other attempt, and reports whether the effect of the operation is known:
//
//	var history *retry.Error
//	if errors.As(err, &history) && !history.OutcomeKnown() {
//		// the operation may have been applied
//	}
//
// # Concurrency
//
// A [Client], a [Database] and a [Collection] are safe for concurrent use. A [Cursor] and a [SingleResult] are not.
// [Client.Disconnect] stops all goroutines of the client. A monitor of events is called by the goroutine that causes the
// event, and must be safe for concurrent use. The events of commands that may have credentials, such as createUser and
// saslStart, show an empty command and an empty reply.
//
// # Logging
//
// With options.LoggerOptions the client writes the log messages of the MongoDB specifications to a sink, for example that of
// package mongoslog. The components are command, topology, server selection and connection. The client adds two messages of
// the component command: "Operation retried" at level debug, and "Operation not retried" at level info, once for an operation
// whose retry was refused, with the reason in the field why. Without the options, the variables MONGODB_LOG_ALL,
// MONGODB_LOG_COMMAND, MONGODB_LOG_TOPOLOGY, MONGODB_LOG_SERVER_SELECTION and MONGODB_LOG_CONNECTION (off, info, debug),
// MONGODB_LOG_PATH (stdout, stderr or a file) and MONGODB_LOG_MAX_DOCUMENT_LENGTH are read by [Connect]. An option takes
// precedence over a variable, and the variable of a component over MONGODB_LOG_ALL.
//
// # Limits
//
// These parts of the official API do not exist yet; a program that uses one of them does not compile:
//
//   - client sessions, and therefore transactions, causal consistency and snapshot reads
//   - change streams (Watch) and aggregations (Aggregate)
//   - CountDocuments, EstimatedDocumentCount, Distinct, UpdateMany, DeleteMany, FindOneAndDelete, FindOneAndReplace,
//     BulkWrite and Clone
//   - Indexes and SearchIndexes
//   - Database.Drop, CreateCollection, CreateView, RunCommandCursor, and the lists of databases and collections
//   - GridFS, and client-side encryption
//   - Client.NumberSessionsInProgress, Client.AppendDriverInfo and Cursor.SetMaxAwaitTime
//   - NewCursorFromDocuments, NewSingleResultFromDocument and BatchCursorFromCursor
//   - the types Dialer (use options.ContextDialer) and InvalidArgumentError
//
// A document with more than 10,000 levels is refused, and so is a Go value that contains itself: they could overflow the
// stack.
//
// [Connect] refuses these options: TLS, authentication, compression, mongodb+srv URIs, loadBalanced=true, the Stable API
// (ServerAPIOptions), driver information and automatic encryption. Servers must be MongoDB 3.6 or newer.
package mongo
