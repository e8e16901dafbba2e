package operation

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// route finds the connection for an attempt by the newest snapshot. It returns false with the failure if there is none.
func (u *run) route() (retry.Failure, bool) {
	if u.bucket == nil {
		return u.invalid(errNoBucketNamed), false
	}
	s := u.bucket.Snapshot()
	if s == nil {
		return u.notOpen(), false
	}
	u.target = target{snapshot: s, vbucket: u.request.VBucket}
	if len(u.request.Key) > 0 {
		if s.Map.VBuckets() == 0 {
			return u.unsupported("the bucket has no vbuckets"), false
		}
		u.vbucket = memd.VBucket(u.request.Key, s.Map.VBuckets())
	}
	u.endpoint = u.choose()
	if u.endpoint == nil {
		u.bucket.Refresh(s, nil)
		return u.notSent(errNodeNotAvailable, u.wakeMoved(s)), false
	}
	if u.conn = u.endpoint.Conn(); u.conn == nil {
		return u.noConnection(), false
	}
	return retry.Failure{}, true
}

// choose returns the endpoint that has the vbucket. One that refused it is not asked again by the same map if there is a rebalance that
// moves the vbucket: the request then goes to the endpoint that will own it (RFC 5).
func (u *run) choose() *cluster.Endpoint {
	if u.request.Replica == 0 && u.refused == u.snapshot {
		if forward := u.snapshot.Forward(u.vbucket); forward != nil {
			return forward
		}
	}
	return u.snapshot.Owner(u.vbucket, u.request.Replica)
}

// notOpen is the failure of an attempt while the bucket has no map. It is waited for whatever the strategy says; but wrong credentials
// are said at once.
func (u *run) notOpen() retry.Failure {
	err, wake := u.bucket.Opening()
	switch {
	case errors.Is(err, cluster.ErrClosed):
		return u.refuse(attemptError{kind: ErrShutdown, err: err})
	case kv.IsLoginFailure(err):
		return u.refuse(attemptError{kind: ErrAuthenticationFailure, err: err})
	}
	cause := noBucket(attemptError{kind: ErrBucketNotOpen, err: err})
	return retry.Failure{Err: cause, Stage: retry.StageDispatch, Reason: couchbasereason.BucketOpening, Wake: wake}
}

// noConnection is the failure of an attempt whose endpoint has no connection. The first one to a node, which a map has just brought, is
// waited for whatever the strategy says: a rebalance fails no operation.
func (u *run) noConnection() retry.Failure {
	err := u.endpoint.Err()
	switch {
	case errors.Is(err, cluster.ErrClosed):
		return u.refuse(attemptError{kind: ErrShutdown, err: err})
	case kv.IsLoginFailure(err):
		return u.refuse(attemptError{kind: ErrAuthenticationFailure, err: err})
	}
	reason := couchbasereason.SocketNotAvailable
	if errors.Is(err, cluster.ErrConnecting) {
		reason = couchbasereason.NodeConnecting
	}
	failure := u.notSent(attemptCause{ErrSocketNotAvailable, reason, err}, u.wakeEndpoint())
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
func (u *run) notSent(c attemptCause, wake <-chan struct{}) retry.Failure {
	return retry.Failure{
		Err: &attemptError{kind: c.kind, err: c.err}, Stage: retry.StageDispatch, Reason: c.reason, Endpoint: u.address(), Wake: wake,
	}
}

// refuse is the failure of an attempt that was not sent, and of which no repetition can help.
func (u *run) refuse(e attemptError) retry.Failure {
	return retry.Failure{Err: &e, Stage: retry.StageDispatch, Endpoint: u.address()}
}

func (u *run) invalid(err error) retry.Failure {
	return u.refuse(attemptError{kind: ErrInvalidArgument, err: err})
}

func (u *run) unsupported(text string) retry.Failure {
	return u.refuse(attemptError{kind: ErrFeatureNotAvailable, err: errors.New(text)})
}

func (u *run) address() string {
	if u.endpoint == nil {
		return ""
	}
	return u.endpoint.Address()
}

// wakeMoved returns the channel that is closed when a newer map than since moves the vbucket.
func (u *run) wakeMoved(since *cluster.Snapshot) <-chan struct{} {
	return u.bucket.Wake(since, cluster.Wait{VBucket: u.vbucket, Replica: u.request.Replica})
}

// wakeEndpoint returns the channel that is closed when the endpoint can be used, or a newer map moves the vbucket.
func (u *run) wakeEndpoint() <-chan struct{} {
	return u.bucket.Wake(u.snapshot, cluster.Wait{VBucket: u.vbucket, Replica: u.request.Replica, Endpoint: u.endpoint})
}
