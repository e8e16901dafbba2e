package kv

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// The causes of an [Error], besides the failures of the network.
var (
	ErrDeadline  = errors.New("the deadline has passed")
	ErrCancelled = errors.New("the request was cancelled by its caller")
	ErrQueueFull = errors.New("the queue of the connection is full")
	// ErrClosed matches every error about a connection that has ended.
	ErrClosed = errors.New("the connection is closed")
)

// The causes of a [HandshakeError], besides the failures of the network.
var (
	ErrBadCredentials = errors.New("the server refuses the credentials")
	ErrNoMechanism    = errors.New("the server has no login mechanism that is allowed")
	ErrUnprovedServer = errors.New("the server does not prove that it knows the credentials")
	ErrNoBucket       = errors.New("the bucket does not exist or is not ready")
	ErrNoAccess       = errors.New("the user has no access to the bucket, or the bucket does not exist")
	ErrServerTooOld   = errors.New("the server is too old")
	ErrRefused        = errors.New("the server refuses a step of the handshake")
)

// IsLoginFailure reports whether a connection could not be made because of the login: another attempt with the same credentials would fail
// like this one.
func IsLoginFailure(err error) bool {
	return errors.Is(err, ErrBadCredentials) || errors.Is(err, ErrNoMechanism) || errors.Is(err, ErrUnprovedServer)
}

// ErrProtocol matches the errors about a server that breaks the protocol. Its connection is closed.
var ErrProtocol = errors.New("the server broke the protocol")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

// Error is a request without a reply.
type Error struct {
	// Stage is StageBeforeSending if nothing of the request was sent or will be sent, and StageInFlight if a part of it may have been.
	Stage  retry.Stage
	Opaque uint32 // of the request; 0 if it got none
	Err    error
}

// Error returns the cause and the stage.
func (e *Error) Error() string { return fmt.Sprintf("%v (%v)", e.Err, e.Stage) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// HandshakeError is a connection that could not be made, after the dial.
type HandshakeError struct {
	Address string
	// Step is the command that failed. It is nothing if HasStep is false: then TLS or the network failed.
	Step    memd.Opcode
	HasStep bool
	// Status is the server's answer, StatusSuccess if there was none or the answer was not an error.
	Status memd.Status
	// Info is the server's explanation, if it gave one.
	Info memd.ErrorInfo
	Err  error
}

// Error returns the address, the step, the cause and the server's explanation. It has no secret.
func (e *HandshakeError) Error() string {
	text := "connection to " + e.Address
	if e.HasStep {
		text += ": " + e.Step.String()
	}
	text += ": " + e.Err.Error()
	if e.Status != memd.StatusSuccess {
		text += fmt.Sprintf(" (status %#02x)", uint16(e.Status))
	}
	if e.Info.Context != "" {
		text += ": " + e.Info.Context
	}
	return text
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// closedError is why a connection has ended.
type closedError struct{ err error }

func (e *closedError) Error() string { return ErrClosed.Error() + ": " + e.err.Error() }

func (e *closedError) Unwrap() []error { return []error{ErrClosed, e.err} }
