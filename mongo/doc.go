// Package mongo is a MongoDB client with the API of the official driver, go.mongodb.org/mongo-driver/v2/mongo. A program
// changes that one import to this one. It keeps the official packages bson, options, readpref, readconcern, writeconcern
// and event. Errors and results have the official types.
//
// The client retries reads and writes by the rules of the Retryable Reads, Retryable Writes and Client Backpressure
// specifications, and its errors contain the history of the attempts.
//
// # Main types
//
//   - [Client] is a handle for one deployment: a standalone, a replica set, or a sharded cluster, with or without a load
//     balancer. [Connect] returns one, and so does [Open], whose [Config] has settings that the official options lack.
//   - [Database] and [Collection] are handles for a database and a collection.
//   - [Cursor] iterates over the documents of a query, an aggregation or a list.
//   - [ChangeStream] iterates over the changes of a collection, a database or a deployment.
//   - [IndexView] and [SearchIndexView] are handles for the indexes of a collection.
//   - [SingleResult] is the result of an operation that returns one document, [DistinctResult] that of Distinct.
//   - [Session] is a session: operations in it see each other's effects, read one snapshot, or are a transaction.
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
// # Connecting
//
// The hosts of a deployment are a list of seeds, or the SRV records of a mongodb+srv connection string. The options of such a
// connection string can come from a TXT record, and TLS is its default. ApplyURI looks these records up itself, by
// net.DefaultResolver; [Open] uses [Config.Resolver]. The client looks up the SRV records of a sharded cluster once a minute, and
// adds and removes servers accordingly.
//
// directConnection=true uses one server and no other. loadBalanced=true means that the one host is a load balancer: it is not
// monitored, and a cursor keeps its connection until it is exhausted or closed.
//
// compressors=zstd,snappy,zlib compresses messages by the first of these that the server has too. An unknown name is not sent to
// the server. A reply that is longer than the server's maxMessageSizeBytes when it is decompressed is refused.
//
// # Retries and time limits
//
// Reads and acknowledged writes are retried once after a retryable error or, if the context has a deadline, until the
// deadline. An operation that an overloaded server refuses is retried with backoff, at most maxAdaptiveRetries times
// (default 2). Writes to a standalone, [Database.RunCommand], the later commands of a [Cursor], aggregations that write,
// and commands that create or drop a database, a collection, a view or an index are retried for overload only.
// retryReads=false disables the retries of reads, retryWrites=false those of writes. The page docs/RETRIES.md of the
// repository has all rules. A [ChangeStream] resumes by itself until the context of its Next ends.
//
// The option timeoutMS limits each operation whose context has no deadline; for an InsertMany, all its commands together.
// A deadline is sent to the server as maxTimeMS, except by the commands of a cursor that the program closes itself (Find,
// Aggregate and getMore), by a RunCommand that has a maxTimeMS, and if it is further away than the servers accept (24.8 days). A nil
// context means [context.Background]. An operation ends at most 5 ms after its context. connectTimeoutMS=0 and
// serverSelectionTimeoutMS=0 mean no timeout.
//
// # Sessions and transactions
//
// [Client.StartSession] starts a session. An operation runs in it if its context has it ([NewSessionContext]). In a causally
// consistent session, which is the default, each operation sees the session's earlier ones. With the option Snapshot all reads
// read one snapshot. [Session.WithTransaction] runs a function in a transaction, and does it again after a transient error:
//
//	err := client.UseSession(ctx, func(ctx context.Context) error {
//		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
//			if _, err := orders.InsertOne(ctx, order); err != nil {
//				return nil, err
//			}
//			return stock.UpdateOne(ctx, item, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: -1}}}})
//		})
//		return err
//	})
//
// In a transaction the read and write concerns of clients, databases and collections do not count, and reads must have read
// preference primary. An unacknowledged write (w: 0) in a session is refused, except in a transaction, where it is
// acknowledged. An operation in a session on a server without sessions is refused before it is sent.
//
// # Options
//
// An option that is not supported is an error that names it, never ignored. [Connect] and the handles check their options
// before any network use; a handle returns the error from its operations. These client options are supported, as options
// of the connection string or as setters of options.ClientOptions:
//
//	appName                       maxAdaptiveRetries      retryReads
//	compressors                   maxConnecting           retryWrites
//	connectTimeoutMS              maxIdleTimeMS           serverMonitoringMode
//	directConnection              maxPoolSize             serverSelectionTimeoutMS
//	enableOverloadRetargeting     maxStalenessSeconds     srvMaxHosts
//	heartbeatFrequencyMS          minPoolSize             srvServiceName
//	journal                       readConcernLevel        timeoutMS
//	loadBalanced                  readPreference          w
//	localThresholdMS              readPreferenceTags      zlibCompressionLevel
//	                              replicaSet              zstdCompressionLevel
//
// So are authMechanism, authMechanismProperties, authSource, and the TLS options (tls, ssl, and those whose names begin with tls): the
// page docs/LOGIN.md of the repository has all of them. Revocation of certificates is not checked, so
// tlsDisableOCSPEndpointCheck and tlsDisableCertificateRevocationCheck change nothing.
//
// The deprecated time limits socketTimeoutMS, waitQueueTimeoutMS and wTimeoutMS of the connection string are supported, unlike in the
// official driver. An operation ignores them if its context has a deadline, or if the client has the option timeoutMS.
// socketTimeoutMS limits each attempt from the sending of its command to the reply: it must be longer than any command may take, the
// wait of a tailable cursor or a change stream included. The deprecated slaveOk=true means readPreference=secondaryPreferred,
// and secondaryAcceptableLatencyMS is localThresholdMS. Some other old options are ignored, and logged at level info: the page
// docs/OPTIONS.md of the repository has them. uuidRepresentation=standard (or unspecified), and authSource without a user,
// are accepted and change nothing.
//
// These options are setters only: BSONOptions, Dialer, DriverInfo, LoggerOptions, Monitor, PoolMonitor, Registry and
// ServerMonitor. A panic of the Dialer, of its connections in the background, or of a function in the TLS configuration does
// not end the process: it is the error of that connection. SetHTTPClient has no effect, because it is for the revocation of
// certificates only. Options of operations are supported, except for EncryptedFields of Drop and CreateCollection.
//
// # Listeners
//
// The listeners of commands are called on the goroutine of their operation, in the order of the events. Those of servers, of the topology and of
// heartbeats are called one at a time, in the order of the events: by goroutines of the client, and also by an operation
// that reports an error, and by Disconnect. Connect calls none of them on its own goroutine, so a listener may wait for what
// the caller of Connect does later, for example for the release of a lock; unlike in the official driver, the event
// TopologyOpening may come after Connect has returned. The monitors start when the listeners have been told of the opening of
// their servers. The listener of the pools is called by whoever causes the event; Connect calls it for the pools that it creates.
//
// An operation, a connection or a monitor whose listener does not return waits for it. A listener may call every method
// of the client: see [Client.Disconnect] for the end of the client.
//
// # Panics
//
// A panic of the application's own code on the goroutine of its operation, for example of a marshaler or a listener, passes to the
// application. If it recovers, the client has kept nothing of the operation: no connection, no session, no place in a queue. A listener
// and a log sink are also called by goroutines of the client, where their panic ends the process.
//
// # Errors
//
// Errors have the official types, for example [CommandError], or our types with the same fields and methods ([WriteException],
// [BulkWriteException], [ClientBulkWriteException]), with the official codes and labels. The type does not depend on the number of
// attempts. [IsTimeout], [IsNetworkError] and [IsDuplicateKeyError] report the kind of an error. A server selection
// timeout and the server's error MaxTimeMSExpired match [context.DeadlineExceeded]. A sort, a hint or a command that is a
// map with several keys is refused with [ErrMapForOrderedArgument]. A document over the server's maxBsonObjectSize is not
// sent; its error is a write error with code 10334.
//
// The error of every operation that went to a server, or for which none could be selected, contains the history. (That of a context
// which had ended before is exactly the context's error, and after Disconnect the error is ErrClientDisconnected.) The history has the
// stage, the reason and the server of each attempt, says why there was no other attempt, and reports whether the effect of the
// operation is known. After a single attempt, the text of the error has it only if the reason for not retrying is not obvious.
//
//	var history *retry.Error
//	if errors.As(err, &history) && !history.OutcomeKnown() {
//		// the operation may have been applied
//	}
//
// # Concurrency
//
// A [Client], a [Database], a [Collection], an [IndexView] and a [SearchIndexView] are safe for concurrent use. A [Session],
// a [Cursor], a [ChangeStream], a [SingleResult] and a [DistinctResult] are not.
// [Client.Disconnect] stops all goroutines of the client. A monitor of events is called by the goroutine that causes the
// event, and must be safe for concurrent use. The events of commands that may have credentials, such as createUser and
// saslStart, show an empty command and an empty reply.
//
// # Logging
//
// With options.LoggerOptions the client writes the log messages of the MongoDB specifications to a sink, for example that of
// package mongoslog. The components are command, topology, server selection and connection. The client adds messages of
// the component command: "Operation retried" at level debug, and "Operation not retried" at level info, once for an operation
// whose retry was refused, with the stop reason in the field stopReason. While a change stream cannot resume, it writes "Change
// stream not resumed", at level info for the first failure and once a minute, else at level debug, and at the end "Change stream resumed" at level info.
// Without the options, the variables MONGODB_LOG_ALL, MONGODB_LOG_COMMAND, MONGODB_LOG_TOPOLOGY, MONGODB_LOG_SERVER_SELECTION and
// MONGODB_LOG_CONNECTION (off, info, debug), MONGODB_LOG_PATH (stdout, stderr or a file) and MONGODB_LOG_MAX_DOCUMENT_LENGTH are read
// by [Connect]. An option takes precedence over a variable, and the variable of a component over MONGODB_LOG_ALL.
//
// # Limits
//
// These parts of the official API do not exist yet; a program that uses one of them does not compile:
//
//   - BatchCursorFromCursor, whose result is a type of the official driver's internals
//
// The names of GridFS and of client-side encryption exist, so that programs compile; their methods return an error that says
// that they are not supported.
//
// A document with more than 10,000 levels is refused, and so is a Go value that contains itself: they could overflow the
// stack.
//
// [Connect] refuses the mechanisms MONGODB-AWS, MONGODB-OIDC and GSSAPI, and automatic encryption. Servers must be MongoDB
// 3.6 or newer.
package mongo
