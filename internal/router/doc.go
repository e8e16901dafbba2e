// Package router is a server that any MongoDB driver takes for a mongos, in front of one replica set, a standalone, or several mongos.
//
// # The life of one command
//
// A client's connection has one goroutine, which deals with one message after the other (client.go). It reads a message (reader.go), which becomes a
// command: its name, its database, and what the router must know of its fields (parser.go, command.go). An old driver's OP_QUERY, OP_GET_MORE or
// OP_KILL_CURSORS becomes the same (oldmessage.go), and gets an OP_REPLY (oldreply.go). What a mongos answers itself is answered (local.go,
// hello.go). For any other command route.go finds in a table of names, and in the fields, what it may meet: whether it reads, whether it may be sent
// twice, whether it goes where its read preference says.
//
// From that operation.go makes an operation of the client's layers (package internal/mongo/operation), whose bytes are the client's own
// (forward.go). The runner of a client of package mongo runs it: it selects the member, checks out a connection, sends, classifies what
// happened, and asks the engine whether to try again. So a failure has one set of rules, whoever asks. The reply goes to the client as it
// came, but for its header (forward.go). An error without a reply becomes one, and no error of a state change reaches a client, whose
// driver would drop its connections to the router (failure.go, statechange.go).
//
// # Who a client is
//
// A login ends here (login.go). What is known of the password comes from the members, or from a file (account.go, passthrough.go, fileusers.go;
// packages scramserver and userfile). In the first case a command runs on connections that log in to the members as the client's user.
//
// # What is kept
//
// A client has the member to which its reads are pinned (a request of the read preferences document of 2014). The router has the member of each open
// cursor (cursors.go), and the mongos of each transaction, if there are several (transactions.go). All are only a cache: an unknown cursor is looked
// for at each member. Nothing holds a connection to a member between two messages.
//
// # Files
//
// Begin with router.go and client.go. Then reader.go, parser.go, command.go, database.go, clustertime.go, route.go, preference.go, operation.go,
// forward.go, failure.go, statechange.go, refusal.go, stranger.go, login.go, hellologin.go, certificate.go, toldlogins.go, account.go,
// passthrough.go, usersinfo.go, fileusers.go, kinds.go, marks.go, waiting.go, awaiting.go, gone.go, stall.go, memory.go, unread.go, recent.go,
// cursors.go, transactions.go, search.go, local.go, hello.go, api.go, quiesce.go, departure.go, config.go. The messages of drivers of 2014:
// oldmessage.go, oldfind.go, oldreply.go, oldcursors.go. What operators see is in ready.go and trace.go; secure.go has the TLS of clients.
package router
