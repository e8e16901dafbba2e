package mongo

// For those who change the client.
//
// A Cursor (cursor.go) knows a namespace, a session and a pin, not a collection. Reply.ReadCursor
// (internal/mongo/operation/cursorreply.go) reads id, namespace, batch and resume token from the reply of any command that
// returns a cursor. If Operation.OwnTimeLimit is set, the command (the find of a cursor that does not await data, getMore) gets
// no maxTimeMS; with AwaitTime a getMore gets that much, or less if the deadline is nearer. If Operation.ReadConcern is nil, it
// gets no read concern, not even the session's times.
//
// A ChangeStream (changestream.go) has one cursor and one session for its whole life. To resume (resume.go) it kills the
// cursor on its server, if that answers within 100 ms, and opens the same Cursor again with another $changeStream stage
// (appendStart). After an error, a timeout or a panic the stream counts as lost until that has succeeded: the reply of a getMore that was not
// read may have had events.
//
// Connect and Open (open.go) lead to the same function connect; Connect has an empty Config. A mongodb+srv connection
// string becomes options with the hosts of its SRV records (srv.go): all other errors are found before the look-up, with a
// placeholder for the hosts. The records are looked up again by Cluster.pollSRV (internal/mongo/cluster/srvpolling.go), which
// ends when the topology is not one of mongos.
//
// Begin with collection.go and client.go. The errors: errorhistory.go, writeerrors.go, writeexception.go. Then one file for each
// operation; the writes: writecommand.go, statementcommand.go (one statement), batches.go (InsertMany, BulkWrite),
// clientbulkcommand.go; connect.go, connectauth.go, connecttls.go, connecterror.go, open.go, urioptions.go, legacytimeouts.go,
// legacyreads.go, srv.go and fields.go (options), marshal.go, cursor.go, cursorall.go, getmore.go; command.go (a command without
// a file of its own), pipeline.go, aggregate.go, list.go; watch.go, changestream.go, resume.go; session.go, sessioncontext.go,
// transaction.go, withtransaction.go.
