// Package mongotest runs MongoDB servers inside a Go test: a standalone, a replica set or a sharded cluster, with real data
// behind the real wire protocol. A test can make them fail. Any driver can be its client. Nothing has to be installed.
//
// Members elect a primary, replicate, acknowledge by write concern, roll back the writes that only a lost primary had, and
// deduplicate retryable writes, as those of the real server do. A replica set of three starts in less than a millisecond.
//
//	func TestIncrementSurvivesAFailover(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) { // a fake clock: the election's ten seconds take milliseconds
//			rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
//			client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()))
//			if err != nil {
//				t.Fatal(err)
//			}
//			defer client.Disconnect(context.Background())
//			// The primary dies when a majority has the first update and the client has no answer to it.
//			rs.Use("update", mongotest.FaultOnce(mongotest.Fault{After: func() { rs.Kill(rs.Primary()) }}))
//
//			counters := client.Database("app").Collection("counters")
//			increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
//			_, err = counters.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "c"}}, increment, options.UpdateOne().SetUpsert(true))
//			if err != nil {
//				t.Fatal(err)
//			}
//			rs.CheckCommands(t, "update", 2) // it was retried, and still
//			rs.CheckDocuments(t, "app.counters", bson.D{{Key: "_id", Value: "c"}, {Key: "n", Value: 1}})
//		})
//	}
//
// # The main types
//
//   - [Deployment] is a standalone, a replica set or a sharded cluster that runs. [RunStandaloneT], [RunReplicaSetT] and
//     [RunShardedT] run one until the test's end; the functions without T are for programs. It has methods for data, checks,
//     members, their network, and the record of what happened.
//   - [Middleware] stands between a client's message and the server, see [Deployment.Use]. [FaultOnce], [Times], [While], [Always]
//     and [Decide] make it from a [Fault]. See docs/FAULTS.md.
//   - [FailPoint] is a fail point as the command configureFailPoint sets it.
//   - [OCSPResponder] says whether the servers' certificate is revoked ([OCSP]).
//   - [BlackPipe] executes nothing: the test names each message, and its answer.
//   - [Proxy] puts middleware in front of a server that is not in this process.
//
// # In memory, on a fake clock
//
// With [InMemory] a deployment opens no socket: only its [Dialer] reaches it. Run and close it inside a testing/synctest bubble,
// beside the client: an election's ten seconds take milliseconds there.
//
// # Concurrency and limits
//
// All methods may be called from any goroutine, also from within the functions of a [Fault]. These and middleware run on the
// goroutine of their connection, with no lock held: their waits delay that connection only.
//
// Nothing is stored on disk. What is not supported is refused by name, with the real server's code. A sharded
// cluster has one shard. Without a hint, only a filter by _id uses an index. README.md in the package's folder has the tables of
// commands, operators and versions, with all exceptions.
package mongotest
