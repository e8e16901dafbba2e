// Package drivererror fills in the error types of the official module's x packages, so that programs find them by errors.As in
// the errors of this client: some decide by them whether to try again, or which status to return. It is the only package of
// the product that may import the x packages, and it does so for these types alone.
//
// Begin with drivererror.go. Then describe.go (the official description of a topology), wrapping.go.
package drivererror

import (
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	xtopology "go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// AsError sets target, if it is a *driver.Error, to the one that an official CommandError would wrap instead of the cause in e.
func AsError(target any, e *official.CommandError) bool {
	t, ok := target.(*driver.Error)
	if ok {
		*t = driver.Error{
			Code: e.Code, Message: e.Message, Labels: e.Labels, Name: e.Name, Wrapped: e.Wrapped, Raw: []byte(e.Raw),
			TopologyVersion: versionOf(e.Raw), BaseBackoff: backoffOf(e.Raw),
		}
	}
	return ok
}

// AsConnection sets target, if it is a *topology.ConnectionError, to the one of a connection that failed because of cause.
func AsConnection(target any, connectionID string, cause error) bool {
	t, ok := target.(*xtopology.ConnectionError)
	if ok {
		*t = xtopology.ConnectionError{ConnectionID: connectionID, Wrapped: cause}
	}
	return ok
}

// AsQueueTimeout sets target, if it is a *topology.WaitQueueTimeoutError, to the one of a checkout that ended because of cause.
func AsQueueTimeout(target any, cause error) bool {
	t, ok := target.(*xtopology.WaitQueueTimeoutError)
	if ok {
		*t = xtopology.WaitQueueTimeoutError{Wrapped: cause}
	}
	return ok
}

// AsSelection sets target, if it is a *topology.ServerSelectionError, to the one of a selection that ended because of cause.
func AsSelection(target any, d *topology.Description, cause error) bool {
	t, ok := target.(*xtopology.ServerSelectionError)
	if ok {
		*t = xtopology.ServerSelectionError{Desc: describe(d), Wrapped: cause}
	}
	return ok
}
