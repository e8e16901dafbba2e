package mongotest

import (
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Request is one message from a client, as the function given to Intercept sees it. It and its Body are valid only until
// the message has been answered; what is kept longer must be copied.
type Request struct {
	Member    int   // to which member it was sent
	ConnID    int64 // over which connection
	RequestID int32
	Command   string // its name, as the client wrote it
	Database  string
	// Body is the command; document sequences are folded into it as arrays.
	Body bson.Raw
	// Application tells that the command works on data: it is no hello, ping, endSessions and the like.
	Application bool
	LSID        bson.Raw // the session's document, nil if there is none
	TxnNumber   int64    // -1 if there is none
}

// Fault is what is done to one message. The zero Fault does nothing. Its functions run on the connection's goroutine,
// with no lock held, and may call anything of the replica set but Close.
type Fault struct {
	// Before runs on receipt, before anything is executed.
	Before func()
	// Delay is waited before executing.
	Delay time.Duration
	// LoseRequest keeps the message from being executed and closes the connection.
	LoseRequest bool
	// Error is answered in place of executing.
	Error *CommandError
	// AfterApply runs after a write was applied at the primary, before its write concern is waited for. Until it returns,
	// or the primary steps down, no secondary gets what was applied. Other commands do not run it.
	AfterApply func()
	// After runs after the command was executed and its write concern was satisfied or failed, before the reply.
	After func()
	// LoseReply keeps the reply from the client and closes the connection.
	LoseReply bool
	// CutReplyAfter, with LoseReply, is how many bytes of the reply are sent all the same.
	CutReplyAfter int
	// Silent, with LoseRequest or LoseReply, leaves the connection open and never answers on it again.
	Silent bool
}

// Intercept has f asked once for each message from a client, but for the messages of handshakes and monitors (hello and
// its like); nil ends it. Messages that are being executed keep the fault they got.
func (rs *ReplicaSet) Intercept(f func(*Request) Fault) { storeInterceptor(&rs.intercept, f) }

// InterceptHello has f asked for those messages that Intercept leaves out: hello, isMaster and ismaster. A streamed hello is
// one message, whatever the number of its replies. nil ends it.
func (rs *ReplicaSet) InterceptHello(f func(*Request) Fault) { storeInterceptor(&rs.greeting, f) }

func storeInterceptor(to *atomic.Pointer[func(*Request) Fault], f func(*Request) Fault) {
	if f == nil {
		to.Store(nil)
		return
	}
	to.Store(&f)
}
