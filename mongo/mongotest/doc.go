// Package mongotest is a MongoDB server for tests, in process: real data behind the real wire protocol, one server or a
// replica set, on TCP or wholly in memory, that can be told to fail.
//
//	func TestTransfer(t *testing.T) {
//		rs := mongotest.RunT(t)
//		client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()))
//		...
//		rs.Use("update", mongotest.Once(mongotest.Fault{LoseReply: true}))
//		...
//		rs.CheckDocuments(t, "bank.accounts", bson.D{{"_id", 1}, {"balance", 90}})
//	}
//
// Any driver may be the client. Members elect a primary, replicate asynchronously, acknowledge by write concern, roll
// back what a lost primary alone had, and deduplicate retryable writes from a session record that is part of the data.
// README.md has the table of what is supported; whatever is not is refused by name.
//
// # In memory
//
// With [InMemory] the set opens no socket: its URI names virtual hosts that only its [Dialer] reaches, and everything
// that waits does so by package time or on conditions, so that the set and its clients can live inside a testing/synctest
// bubble. Start and close the set inside the bubble.
//
// # Concurrency
//
// All methods of [Deployment], [BlackPipe], [Proxy] and [Dialer] may be called from any goroutine, also from within the
// functions of a [Fault]. Middleware and the functions of a Fault run on the goroutine of the connection that
// they concern, with no lock held: what they wait for delays that connection only.
package mongotest
