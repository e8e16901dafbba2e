package cluster

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/drivererror"
	"github.com/holdfast-db/holdfast/internal/mongo/revocation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// HandshakeError is the error of a connection that could not be established. Nothing of an operation was sent on it.
type HandshakeError struct {
	Address string
	// Connecting means that the dial or hello failed, so the server may be overloaded (Client Backpressure
	// specification).
	Connecting bool
	Timeout    bool
	// Network means that the connection failed. It is false for an error reply.
	Network bool
	// Reply is the server's error reply, nil if there was none.
	Reply bson.Raw
	Err   error
	// Check is the monitor's check of the server since: the server is perhaps dead. It is nil if no check was requested,
	// because the failure is not one of the dial or hello of an application's connection.
	Check *PendingCheck

	// service and generation are those of a connection whose login failed behind a load balancer. Otherwise service is zero.
	service    bson.ObjectID
	generation uint64
}

// Error returns the address and the cause.
func (e *HandshakeError) Error() string {
	return fmt.Sprintf("connecting to %s failed: %v", e.Address, e.Err)
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// As finds the official driver's ConnectionError, and its error of a certificate that is revoked.
func (e *HandshakeError) As(target any) bool {
	var refused *revocation.Error
	if errors.As(e.Err, &refused) && refused.Revoked && drivererror.AsRevoked(target, refused.Certificate) {
		return true
	}
	return drivererror.AsConnection(target, e.Address, e.Err)
}

// unwrittenHello is the error of a hello that the client could not write.
type unwrittenHello struct{ err error }

func (u *unwrittenHello) Error() string { return u.err.Error() }
func (u *unwrittenHello) Unwrap() error { return u.err }

// refusedHello is an error reply to a hello.
type refusedHello struct {
	reply bson.Raw
	err   error
}

func (r *refusedHello) Error() string { return r.err.Error() }
func (r *refusedHello) Unwrap() error { return r.err }

// refusedLogin is an error reply to a command of the login.
type refusedLogin struct {
	reply bson.Raw
	err   *topology.HelloError
}

// Error returns the name of the code and the message.
func (r *refusedLogin) Error() string { return fmt.Sprintf("(%s) %s", r.err.CodeName, r.err.Message) }

// refusesUser reports whether an error is that of a login that the server has refused, or that the client has ended, although the server
// answered as one that works.
func refusesUser(err error) bool {
	var failed *HandshakeError
	var login *auth.Error
	if !errors.As(err, &failed) || !errors.As(err, &login) || failed.Network {
		return false
	}
	var refused *topology.HelloError
	return !errors.As(err, &refused) ||
		!topology.IsNotPrimary(refused.Code, refused.Message, refused.HasCode) && !topology.IsRecovering(refused.Code, refused.Message, refused.HasCode)
}

// ErrorCode returns the code of the reply.
func (r *refusedLogin) ErrorCode() int32 { return r.err.Code }

// Unwrap returns the fields of the reply.
func (r *refusedLogin) Unwrap() error { return r.err }
