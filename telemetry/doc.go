// Package telemetry is what a Holdfast client tells about its work. A [Tracer] has functions that the client calls when something begins or
// ends; what they are told is plain data. So a module can make traces, metrics or logs of it without an import of a client. A client without a
// tracer does not pay for one.
//
// One operation, in the order of the calls:
//
//	OperationBegan              before a server is selected, and before anything is sent
//	    SelectionBegan          a server is searched for
//	    SelectionEnded
//	    AttemptBegan            a message is about to be sent
//	    AttemptEnded            its reply was read, or there is none
//	    Decided                 the attempt failed: there will be another one, after a delay
//	    SelectionBegan          the same operation is sent once more
//	    SelectionEnded
//	    AttemptBegan
//	    AttemptEnded
//	OperationEnded              with the error that the application gets
//
// An operation that needs several messages, such as a bulk write, has attempts for each of them. One that no server can be selected for has no
// attempt. The client may also send messages for itself, without an operation. A transaction begins, for a tracer, with its first operation:
//
//	TransactionBegan            the operations are told with the context that it returned
//	    OperationBegan ... OperationEnded
//	TransactionEnded            it was committed, or aborted
//
// Between a selection and its attempt, the operation checks a connection out. What becomes of connections is told as events: see [PoolEvent].
// What a client knows now is asked for: see [Client].
//
// # Contexts
//
// A function that ends in Began returns the context with which the client goes on: the one that it was given, or one made from that. The function
// that ends in Ended gets it. Where several tracers are joined, each sees the context of those before it: keep what you put there under a key of your own.
//
// # Concurrency
//
// The functions of one operation are called on the goroutine of the operation, one after the other; those of different operations at the same
// time. The operation waits for them. A panic of theirs is a panic of the operation. What they are given must not be changed, and the functions
// in it must not be called after the call has ended; those of a [Client] may be. Pool is called on the goroutine of the checkout, or on one of
// the client's: then its context is the background. ClientOpened, and Pool for the first pools of a MongoDB client, are called before the call that
// opens the client returns; it waits for them.
package telemetry
