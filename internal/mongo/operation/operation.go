package operation

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// Kind determines the retry rule of an operation.
type Kind uint8

// The kinds of operation.
const (
	Read    Kind = iota // retried if retryReads is set
	Write               // retried if retryWrites is set
	Generic             // runCommand: retried for overload only
)

// Command writes the fields of one kind of operation and reads its result.
type Command interface {
	// AppendTo appends the command's own elements to dst, its name first. It is called once for each attempt.
	AppendTo(dst []byte, attempt Attempt) ([]byte, error)
	// Accept reads the result from a reply with "ok: 1" and copies the parts that it keeps. It returns the error of a
	// write if the reply has one. It may be called once for each attempt; the result of the last call counts.
	Accept(reply *Reply) error
}

// Attempt describes the attempt for which a command is written.
type Attempt struct {
	Number       int  // from 0
	Acknowledged bool // the server answers; in a transaction it always does
	// Server is the server description from the connection's handshake.
	Server *topology.Server
}

// Sequencer is a Command with document sequences.
type Sequencer interface {
	Command
	// AppendSequences appends the complete sequences to dst.
	AppendSequences(dst []byte) []byte
}

// Operation describes one database command. It is used by one goroutine.
type Operation struct {
	Name     string // the command's name
	Database string
	// Collection is the collection that the command is about, for tracers. It is empty if there is none, or if nobody but the application, which
	// wrote the command, knows it.
	Collection string
	// Traced is the operation of the application that the command is a part of. It is nil if there is no tracer.
	Traced  *Traced
	Command Command
	Kind    Kind

	// Retryable means that the specification lists the operation as retryable. (A write must be acknowledged, without
	// a statement that changes several documents.)
	Retryable bool
	// Idempotency says whether doing the operation twice does harm to the application's data.
	Idempotency retry.Idempotency
	// Several means that the write may change several documents. Each is changed whole or not at all, but not all of them together
	// (https://www.mongodb.com/docs/manual/core/write-operations-atomicity/): a server that gives up in the middle leaves what is done.
	Several bool
	// Selection has the criteria for server selection.
	Selection *topology.Selection
	// ReadPreference is sent with the command. Nil means primary.
	ReadPreference *readpref.ReadPref
	// ReadConcern is sent with the session's operation time or snapshot time. Nil means that the command has no read
	// concern.
	ReadConcern  *ReadConcern
	WriteConcern WriteConcern
	// OwnReadConcern means that the command writes a read concern itself, which must not meet that of a transaction or a snapshot.
	OwnReadConcern bool
	// LargeReply, if it is not nil, has a large buffer for the reply, or nil. The operation puts the reply's own buffer there, if that
	// is a large one, else nil: the reply's bytes stay valid then.
	LargeReply *[]byte
	// AdmitReply, if it is not nil, is called before a reply of more than [cluster.LargeReply] bytes is read, and may wait until there is memory
	// for it. The error [cluster.ErrNoRoom] ends the operation.
	AdmitReply func(ctx context.Context, length int) error
	// OwnTimeLimit means that maxTimeMS does not follow from the deadline: the command writes it, or must not have
	// it.
	OwnTimeLimit bool
	// AwaitTime is the maxTimeMS of the getMore of a cursor that awaits data, or less if the deadline is nearer. 0 means
	// that the server chooses how long it waits.
	AwaitTime time.Duration
	// Session is the client session of the operation. Nil means an implicit one that ends with the operation.
	Session *Session
	// Pin pins the operation to a server. An operation of a transaction also has the pin of the transaction.
	Pin *Pin
	// Request is the request that the operation belongs to, or nil.
	Request *Request

	// User is for whom a router sends the command, on connections of that user. Nil means the user of the client.
	User *cluster.User
	// RetryUntil is when the last retry of an operation without a deadline may begin. Zero means that there is one retry.
	RetryUntil time.Time
	// ClusterTime is the $clusterTime document of the program for which a router sends the command. It is sent if it is greater than the
	// runner's, which it does not change: nobody has verified it.
	ClusterTime []byte

	// Waits, if it is not nil, is called when the selection of a server waits, once for each attempt. Its error ends the operation.
	Waits func() error

	// LogID is the operationId of the log: the commands of one bulk write have the same. 0 means that the log gives the operation one.
	LogID int64

	ends ending
}

func (o *Operation) unacknowledged() bool { return o.Kind == Write && !o.WriteConcern.Acknowledged() }
