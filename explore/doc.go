// Package explore runs a piece of a program once to see the messages that it sends to MongoDB, and then again and again, each time with
// one failure at one message, until every message has met every failure. It reports each run in which what the program promises no
// longer holds.
//
//	func TestPlaceOrder(t *testing.T) {
//		explore.Run(t, func(e *explore.Exploration) {
//			client := connect(e)                  // with any driver, to e.URI()
//			err := shop.PlaceOrder(e.Context(), client, order)
//			e.Logf("PlaceOrder returned %v", err)
//			e.Check(func() error { return shop.Audit(connect(e), order, err) }) // all failures have ended
//		})
//	}
//
// Each run has servers of its own, those of package mongotest: real data behind the real protocol, in this process. The function must
// do the same in each run: a message is known by its command, its namespace, and its place among the messages with the same two. A
// message that a run does not send is reported as not reached, never as passed. If the function sends messages from several goroutines,
// the order among equal ones is as the scheduler has it, so that concurrency is sampled and not explored.
//
// What the function may do: an error of the program is no failure as long as the check holds, because an operation may fail when a
// server dies; it must not lie about it. The function calls Errorf, Fatalf or FailNow of the [Exploration] if something does not hold,
// or returns an error from a check. So the assertions of testify and others work, given the Exploration in place of the *testing.T. The
// *testing.T itself would fail the test without naming the case. A check connects anew, because what the program's own client knows of the
// servers may be out of date. A panic on a goroutine that the function has started ends the test binary.
//
// # On the fake clock
//
// With [InMemory] a run has neither sockets nor waits: it is a bubble of testing/synctest, whose clock goes on when all goroutines wait.
// The program connects through e.Dialer(). An election takes its ten seconds and a silent connection its five minutes, in no time, and
// hundreds of runs take a second. A bubble forbids what its clock cannot see: waits for sockets, files, processes, and goroutines outside
// of it; a global lock or channel that two runs share; a client that is made outside of the function; a mutex that is never unlocked,
// which is seen after a minute of the real clock. If the program has global state, its runs go one after the other with [Parallel](1).
//
// A run in which all goroutines wait for each other is reported as hung, and one whose goroutines are left at the end as leaked.
package explore
