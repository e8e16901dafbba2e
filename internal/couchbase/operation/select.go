package operation

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

var errNoBucketNamed = errors.New("operation: the operation has neither a bucket nor a collection")

// selectEndpoint finds the endpoint and the connection for an attempt by the newest snapshot. It returns false with the failure if there is none.
func (r *run) selectEndpoint() (retry.Failure, bool) {
	if r.bucket == nil {
		return r.invalid(errNoBucketNamed), false
	}
	s := r.bucket.Snapshot()
	if s == nil {
		return r.notOpen(), false
	}
	r.target = target{snapshot: s, vbucket: r.op.VBucket}
	if len(r.op.Key) > 0 {
		if s.Map.VBuckets() == 0 {
			return r.unsupported("the bucket has no vbuckets"), false
		}
		r.vbucket = memd.VBucket(r.op.Key, s.Map.VBuckets())
	}
	r.endpoint = r.endpointOf()
	if r.endpoint == nil {
		r.bucket.Refresh(s, nil)
		return r.notSent(errNodeNotAvailable, r.wakeMoved(s)), false
	}
	if r.conn = r.endpoint.Conn(); r.conn == nil {
		return r.noConnection(), false
	}
	return retry.Failure{}, true
}

// endpointOf returns the endpoint that has the vbucket. One that refused it is not asked again by the same map if there is a rebalance that
// moves the vbucket: the request then goes to the endpoint that will own it (RFC 5).
func (r *run) endpointOf() *cluster.Endpoint {
	if r.op.Replica == 0 && r.refusedBy == r.snapshot {
		if forward := r.snapshot.Forward(r.vbucket); forward != nil {
			return forward
		}
	}
	return r.snapshot.Owner(r.vbucket, r.op.Replica)
}

// notOpen is the failure of an attempt while the bucket has no map. It is waited for whatever the strategy says; but wrong credentials
// are said at once.
func (r *run) notOpen() retry.Failure {
	err, wake := r.bucket.Opening()
	switch {
	case errors.Is(err, cluster.ErrClosed):
		return r.cannotSend(attemptError{kind: ErrShutdown, err: err})
	case kv.IsLoginFailure(err):
		return r.cannotSend(attemptError{kind: ErrAuthenticationFailure, err: err})
	}
	cause := noBucket(attemptError{kind: ErrBucketNotOpen, err: err})
	return retry.Failure{Err: cause, Stage: retry.StageBeforeSending, Reason: couchbasereason.BucketOpening, Wake: wake}
}

// noConnection is the failure of an attempt whose endpoint has no connection. The first one to a node, which a map has just brought, is
// waited for whatever the strategy says: a rebalance fails no operation.
func (r *run) noConnection() retry.Failure {
	err := r.endpoint.Err()
	switch {
	case errors.Is(err, cluster.ErrClosed):
		return r.cannotSend(attemptError{kind: ErrShutdown, err: err})
	case kv.IsLoginFailure(err):
		return r.cannotSend(attemptError{kind: ErrAuthenticationFailure, err: err})
	}
	reason := couchbasereason.SocketNotAvailable
	if errors.Is(err, cluster.ErrConnecting) {
		reason = couchbasereason.NodeConnecting
	}
	failure := r.notSent(attemptCause{ErrSocketNotAvailable, reason, err}, r.wakeEndpoint())
	failure.Err = noBucket(attemptError{kind: ErrSocketNotAvailable, err: err})
	return failure
}

// noBucket says that the bucket does not exist, if that is the cause of the error. A server may say so too if the user has no access to it.
func noBucket(e attemptError) *attemptError {
	switch {
	case errors.Is(e.err, kv.ErrNoBucket):
		e.kind = ErrBucketNotFound
	case errors.Is(e.err, kv.ErrNoAccess):
		e.kind, e.also = ErrBucketNotFound, ErrAuthenticationFailure
	}
	return &e
}

// attemptCause is why an attempt was not sent, and the reason for that.
type attemptCause struct {
	kind   error
	reason retry.Reason
	err    error // more about it, or nil
}

var (
	errNodeNotAvailable = attemptCause{ErrNodeNotAvailable, couchbasereason.NodeNotAvailable, nil}
	errBreakerOpen      = attemptCause{ErrCircuitBreakerOpen, retry.ReasonCircuitBreakerOpen, nil}
)

// notSent is the failure of an attempt that was not sent.
func (r *run) notSent(c attemptCause, wake <-chan struct{}) retry.Failure {
	return retry.Failure{
		Err: &attemptError{kind: c.kind, err: c.err}, Stage: retry.StageBeforeSending, Reason: c.reason, Endpoint: r.address(), Wake: wake,
	}
}

// cannotSend is the failure of an attempt that was not sent, and of which no repetition can help.
func (r *run) cannotSend(e attemptError) retry.Failure {
	return retry.Failure{Err: &e, Stage: retry.StageBeforeSending, Endpoint: r.address()}
}

func (r *run) invalid(err error) retry.Failure {
	return r.cannotSend(attemptError{kind: ErrInvalidArgument, err: err})
}

func (r *run) unsupported(text string) retry.Failure {
	return r.cannotSend(attemptError{kind: ErrFeatureNotAvailable, err: errors.New(text)})
}

func (r *run) address() string {
	if r.endpoint == nil {
		return ""
	}
	return r.endpoint.Address()
}

// wakeMoved returns the channel that is closed when a newer map than since moves the vbucket.
func (r *run) wakeMoved(since *cluster.Snapshot) <-chan struct{} {
	return r.bucket.Wake(since, cluster.Wait{VBucket: r.vbucket, Replica: r.op.Replica})
}

// wakeEndpoint returns the channel that is closed when the endpoint can be used, or a newer map moves the vbucket.
func (r *run) wakeEndpoint() <-chan struct{} {
	return r.bucket.Wake(r.snapshot, cluster.Wait{VBucket: r.vbucket, Replica: r.op.Replica, Endpoint: r.endpoint})
}
