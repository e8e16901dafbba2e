package operation

import (
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// transactionState is the state of a session's transaction (Transactions specification, "ClientSession changes").
type transactionState uint8

const (
	noTransaction transactionState = iota
	transactionStarting
	transactionInProgress
	transactionCommitted
	transactionAborted
)

// TransactionOptions are the options of a transaction. The defaults of its session and client are applied.
type TransactionOptions struct {
	ReadConcern    ReadConcern // of the first command
	ReadPreference *readpref.ReadPref
	WriteConcern   WriteConcern // of commit and abort
}

// transaction is the transaction that a session runs, or has committed or aborted last.
type transaction struct {
	state   transactionState
	options TransactionOptions
	// recoveryToken is from the latest reply of a mongos. With it, any mongos can finish the transaction.
	recoveryToken []byte
	// unused means that the transaction ended before its first command, so the server does not know it.
	unused bool
	// majority means that the next commit is a retry, which needs write concern majority.
	majority bool
	// perhapsCommitted means that an attempt to commit was sent whose outcome is unknown.
	perhapsCommitted bool
	traced           tracedTransaction
	// pin pins the operations to a mongos, or behind a load balancer to a connection.
	pin Pin
}

// The errors of calls in a wrong state. Their texts are the official driver's.
var (
	errTransactionRunning   = errors.New("transaction already in progress")
	errNoTransaction        = errors.New("no transaction started")
	errAbortAfterCommit     = errors.New("cannot call abortTransaction after calling commitTransaction")
	errAbortTwice           = errors.New("cannot call abortTransaction twice")
	errCommitAfterAbort     = errors.New("cannot call commitTransaction after calling abortTransaction")
	errSnapshotTransaction  = errors.New("transactions are not supported in snapshot sessions")
	errUnacknowledged       = errors.New("transactions do not support unacknowledged write concerns")
	errReadPreferenceInside = errors.New("read preference in a transaction must be primary")
)

// StartTransaction starts a transaction in the session. The server hears of it with its first command.
func (s *Session) StartTransaction(o TransactionOptions) error {
	switch {
	case s.ended:
		return ErrSessionEnded
	case s.TransactionRunning():
		return errTransactionRunning
	case s.snapshot:
		return errSnapshotTransaction
	case !o.WriteConcern.Acknowledged():
		return errUnacknowledged
	}
	s.Unpin()
	s.server.nextTxnNumber()
	s.transaction = transaction{state: transactionStarting, options: o, traced: tracedTransaction{started: time.Now()}}
	return nil
}

// TransactionRunning reports whether a transaction was started and neither committed nor aborted.
func (s *Session) TransactionRunning() bool {
	return s.transaction.state == transactionStarting || s.transaction.state == transactionInProgress
}

// PerhapsCommitted reports whether an attempt to commit the last transaction was sent whose outcome is unknown.
func (s *Session) PerhapsCommitted() bool { return s.transaction.perhapsCommitted }

// Commit changes the state to "committed", and returns the operation that commits the transaction. It is nil if there is
// nothing to commit.
func (s *Session) Commit() (*Operation, error) {
	if s.ended {
		return nil, ErrSessionEnded
	}
	t := &s.transaction
	switch t.state {
	case noTransaction:
		return nil, errNoTransaction
	case transactionAborted:
		return nil, errCommitAfterAbort
	case transactionStarting:
		t.unused = true
	case transactionInProgress, transactionCommitted:
	}
	t.state = transactionCommitted
	return s.ending("commitTransaction", commits), nil
}

// Abort changes the state to "aborted", and returns the operation that aborts the transaction. It is nil if there is
// nothing to abort. The caller ignores the error of the operation: the server aborts the transaction itself after some
// time.
func (s *Session) Abort() (*Operation, error) {
	if s.ended {
		return nil, ErrSessionEnded
	}
	t := &s.transaction
	switch t.state {
	case noTransaction:
		return nil, errNoTransaction
	case transactionCommitted:
		return nil, errAbortAfterCommit
	case transactionAborted:
		return nil, errAbortTwice
	case transactionStarting:
		t.unused = true
	case transactionInProgress:
	}
	t.state = transactionAborted
	return s.ending("abortTransaction", aborts), nil
}

// Unpin lets the next operation of the session select a server.
func (s *Session) Unpin() { s.transaction.pin.Release() }

// participates reports whether an operation is one of the session's running transaction. killCursors cannot start one.
func (s *Session) participates(op *Operation) bool {
	if s == nil || op.ends != endsNothing {
		return false
	}
	return s.transaction.state == transactionInProgress ||
		s.transaction.state == transactionStarting && op.Name != "killCursors"
}

// join makes an operation one of the session's running transaction: it has the transaction's read preference, and neither
// a read concern nor a write concern of its own.
func (s *Session) join(op *Operation) error {
	op.ReadConcern, op.WriteConcern = nil, WriteConcern{}
	if op.Kind == Write {
		return nil
	}
	preference := s.transaction.options.ReadPreference
	if op.Kind == Generic && op.ReadPreference != nil {
		preference = op.ReadPreference
	}
	if preference != nil && preference.Mode() != readpref.PrimaryMode {
		return errReadPreferenceInside
	}
	op.ReadPreference = nil
	if op.Selection != nil {
		op.Selection = &topology.Selection{Write: true, LocalThreshold: op.Selection.LocalThreshold}
	}
	return nil
}
