// Package operation runs one database operation: it provides the session and the transaction number, makes the
// attempts (server selection, checkout, one round trip, and the classification of the outcome), and returns the error
// for the application.
//
// The rules are those of the specifications for Retryable Reads, Retryable Writes, Client Backpressure and Sessions.
//
// # Sessions, pins and transactions
//
// A Session (session.go) is a client session: explicit (the application ends it) or implicit (it ends
// with the operation or the cursor that it was made for). It holds a ServerSession, which is sent as lsid; the operation time
// that a causally consistent operation must see; the time of a snapshot; the newest cluster time; its transaction. Release ends
// only an implicit session, so a cursor can also hold an explicit one. NoSession is for commands about sessions. An explicit
// session gets its server session at once, because the application may ask for its id; an implicit one only after a checkout.
// readconcern.go has one function that decides which read concern a command has, from the operation, the session and the
// transaction.
//
// A transaction (transaction.go) is the state machine of the Transactions specification: none, starting, in progress, committed,
// aborted. StartTransaction, Commit and Abort change its state; the last two return the operation that tells the server
// (ending.go), or nil if the server never heard of the transaction. What a running operation does to it is in transactionrun.go:
// joined is called right before a command is sent, so an error of the client changes no state; failedInTransaction after each
// failed attempt adds the labels TransientTransactionError and UnknownTransactionCommitResult, unpins, and lets the retry of a
// first command that was refused for overload start the transaction again. A retryable write takes its number from the same
// counter (ServerSession.nextTxnNumber). mongo/withtransaction.go is the loop around it all; all its waits are timers, so the
// tests run on the fake clock.
//
// A Pin (pin.go) ties operations to the server of the first of them that succeeds and, behind a load balancer or if asked, to its
// connection. A cursor has a pin, and so has a transaction: its first command pins it to a mongos or, behind a load balancer, to
// a connection, which a cursor in the transaction then shares. A pin whose connection broke is lost: its next operation fails
// before anything is sent. A connection that a pin keeps is checked out, but does not count as an operation in flight.
//
// A Request (request.go) is the 2014 document's mode, which mongo.WithRequest begins. Its reads get their server from
// Request.target instead of server selection, and never wait; operations on the primary get their connection from
// Request.checkOut, which hands out one connection to one operation at a time.
//
// # When an attempt fails
//
// Every failure becomes a retry.Failure. Those of a checkout, a round trip and a reply are made in classify.go, those of an attempt that
// did not come so far in attempt.go and limits.go. It says how far the attempt came (stage), why it failed
// (reason), and whether it may be sent again (idempotency). The stage is not guessed: the code that writes the bytes sets it in
// cluster.IOError.
//
//   - No server can be selected, first attempt. Stage: before sending. Then: returned as it is (cluster.SelectionError).
//   - The pool was cleared since selection (PoolClearedError). Stage: before sending. Reported to the topology: no: the error that
//     cleared the pool was reported. Then: retried.
//   - Connecting, TLS or hello fails by the network. Stage: before sending. Reported to the topology: no: it may be overload
//     (client backpressure), but a check is requested at once. Then: retried after a delay and after that check, labels
//     SystemOverloadedError, RetryableError.
//   - Hello is answered with a retryable code. Stage: before sending. Reported to the topology: yes, if the code is "not primary"
//     or "recovering". Then: retried.
//   - The login is refused, or the server does not prove that it knows the credentials. Stage: before sending. Reported to the
//     topology: yes: server Unknown, pool cleared. Then: retried only if the code is retryable.
//   - The connection breaks during the login; a DNS error; a TLS error that is no I/O error. Stage: before sending. Reported to the
//     topology: yes: server Unknown, pool cleared. Then: retried.
//   - The server's certificate is invalid. Stage: before sending. Reported to the topology: yes: server Unknown, pool cleared.
//     Then: returned.
//   - The connection breaks, or is interrupted by its monitor. Stage: in flight, or before sending if no byte was written. Reported to the
//     topology: yes: server Unknown, pool cleared. Then: a read, and a write with a transaction number, is retried.
//   - The pin's connection is lost, the pool is exhausted, or the command cannot be built. Stage: before sending. Then: returned.
//   - The attempt reaches AttemptTimeout. Stage: in flight or before. Reported to the topology: yes, as a network timeout, which
//     changes nothing; checks of all servers are requested. Then: retried on another server, or on this one after its check.
//   - The server's breaker is open. Stage: before sending. Reported to the topology: no. Then: retried, on another server if one
//     suits.
//   - The caller's context ends. Stage: in flight or before. Reported to the topology: no. Then: returned at once, never retried.
//   - "not primary", "recovering". Stage: answered. Reported to the topology: yes, and a check is requested at once; pool cleared
//     at shutdown. Then: retried; the server adds the label, before 4.4 the client.
//   - writeConcernError with a retryable label. Stage: answered, unsettled. Reported to the topology: yes, by its code. Then:
//     retried: the server repeats its recorded answer.
//   - writeErrors, any other code. Stage: answered. Then: returned.
//   - Overload labels. Stage: answered. Then: retried up to maxAdaptiveRetries, with backoff.
//   - No server can be selected for the retry, or it does not support retries. Then: the error of the attempt before is returned
//     (errors.go, rememberError).
//
// The engine then decides (retry/decide.go, one pure function). docs/ENGINE.md lists its questions in their order, and its
// tables; docs/RETRIES.md has the resulting rules for the users of the client. The strategy of an operation is the run itself
// (RetryAfter): one retry or, if there is a deadline, retries until the deadline; an overloaded server has a rule of its own.
// With a deadline, from the second retry on, a retry goes to a suitable server that has not failed in the operation; if there is none,
// selectServer waits for a change of the topology, for at most 500 ms. So a server that keeps refusing
// gets about two attempts a second, as often as its monitor may check it.
//
// After each failed attempt rememberError (errors.go) remembers the error that the application gets (of the most recent attempt that was
// sent and is not labelled NoWritesPerformed, else of the first), because the history of a long operation does not keep all
// attempts. final (final.go) adds the history, also after one attempt and after none: a CommandError wraps it (Cause), and
// package mongo puts it into WriteException, BulkWriteException and ClientBulkWriteException (mongo/errorhistory.go), so that the type
// of an error does not depend on the number of attempts. internal/mongo/drivererror is the only package that knows the official
// module's x packages: it fills in their error types for errors.As, and makes a CommandError whose text is that of what it wraps.
//
// The settings of Config that limit retries are operation.Limits (limits.go). The strategy is asked after the client's own rule.
// The breaker of a server is asked between selection and checkout. AttemptTimeout covers checkout and round trip, not the
// selection, which must be able to wait for an election; it is not sent as maxTimeMS. socketTimeoutMS is the same for the round
// trip of an operation without a deadline; waitQueueTimeoutMS is the pool's (internal/mongo/cluster/waiting.go). After an attempt
// that reached one of the first two, Cluster.SelectFor, given the check of that server, returns the same server only when a check
// has shown that the server answers.
//
// # Not obvious
//
//   - A run is its own strategy, because only the first server shows whether an operation may be retried.
//   - Operation.Idempotency says whether applying the operation twice does harm to the application; the idempotency of an attempt
//     may be better. The first decides whether an error is ambiguous; the better of both decides whether an attempt may be
//     repeated.
//   - A reply aliases its connection's read buffer. Accept copies the parts that it keeps; after the check-in the buffer is used
//     again.
//
// # Files
//
// Begin with operation.go, runner.go, run.go, attempt.go. Then select.go, rules.go (what may be retried, and when), session.go,
// serversession.go, transaction.go, transactionrun.go, ending.go, endsessions.go, pin.go, request.go, limits.go, branches.go,
// classify.go, codes.go, errors.go, final.go, message.go, readconcern.go, writeconcern.go, reply.go, cursorreply.go, clock.go,
// monitoring.go, log.go, redaction.go.
package operation
