package couchbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/retry"
)

// WaitUntilReadyOptions are the options of [Cluster.WaitUntilReady] and [Bucket.WaitUntilReady].
type WaitUntilReadyOptions struct {
	DesiredState ClusterState    // 0: ClusterStateOnline. ClusterStateDegraded: one connection, and one node of each service, are enough.
	ServiceTypes []ServiceType   // empty: those that the map has; of a bucket, only its key-value service
	Context      context.Context // nil: none. The wait ends when it does.
	// RetryStrategy is asked between two looks, with the reason [NotReadyRetryReason]. Nil: the cluster's. The wait ends when it declines.
	RetryStrategy RetryStrategy
}

// WaitUntilReady waits until the cluster has answered, and its services answer pings.
func (c *Cluster) WaitUntilReady(timeout time.Duration, opts *WaitUntilReadyOptions) error {
	if opts == nil {
		opts = &WaitUntilReadyOptions{}
	}
	if slices.Contains(opts.ServiceTypes, ServiceTypeKeyValue) {
		return invalid("ServiceTypes has the key-value service, which only a bucket has: use Bucket.WaitUntilReady")
	}
	return c.wait(nil, timeout, opts)
}

// WaitUntilReady waits until the bucket is open and connected, and the services answer pings.
func (b *Bucket) WaitUntilReady(timeout time.Duration, opts *WaitUntilReadyOptions) error {
	if opts == nil {
		opts = &WaitUntilReadyOptions{}
	}
	if b.name == "" {
		return invalid("the name of the bucket is empty")
	}
	return b.cluster.wait(b, timeout, opts)
}

func (c *Cluster) wait(b *Bucket, timeout time.Duration, opts *WaitUntilReadyOptions) error {
	if err := c.usable(); err != nil {
		return err
	}
	if err := checkServices(opts.ServiceTypes); err != nil {
		return err
	}
	switch {
	case timeout < 0:
		return invalid("timeout is %v; it must not be negative", timeout)
	case opts.DesiredState == ClusterStateOffline || opts.DesiredState > ClusterStateOffline:
		return invalid("DesiredState is %d; it must be ClusterStateOnline or ClusterStateDegraded", opts.DesiredState)
	}
	ctx := opts.Context
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	w := &readiness{cluster: c, bucket: b, options: opts, ctx: ctx, began: time.Now()}
	return w.wait()
}

// readiness is a wait until a cluster or a bucket is ready.
type readiness struct {
	cluster *Cluster
	bucket  *Bucket // nil: the cluster
	options *WaitUntilReadyOptions
	ctx     context.Context
	began   time.Time
	tries   uint32
}

var _ RetryRequestDetails = (*readiness)(nil)

// The wait is an operation that strategies are asked about.

func (w *readiness) RetryAttempts() uint32    { return w.tries }
func (w *readiness) Identifier() string       { return "WaitUntilReady" }
func (w *readiness) Operation() string        { return "wait_until_ready" }
func (w *readiness) Idempotent() bool         { return true }
func (w *readiness) Context() context.Context { return w.ctx }
func (w *readiness) UserData() any            { return retry.Data(w.ctx) }
func (w *readiness) Err() error               { return errNotReady }

func (w *readiness) RetryReasons() []RetryReason {
	if w.tries == 0 {
		return nil
	}
	return []RetryReason{NotReadyRetryReason}
}

var errNotReady = errors.New("couchbase: not ready yet")

func (w *readiness) wait() error {
	strategy := w.options.RetryStrategy
	if strategy == nil {
		strategy = w.cluster.settings.strategy
	}
	if strategy == nil {
		strategy = NewBestEffortRetryStrategy(nil)
	}
	for {
		cause := w.look()
		if cause == nil {
			return nil
		}
		if errors.Is(cause, ErrAuthenticationFailure) || errors.Is(cause, ErrShutdown) {
			return cause
		}
		if w.ctx.Err() != nil {
			return w.late(cause)
		}
		action := strategy.RetryAfter(w, NotReadyRetryReason)
		if failed, ok := action.(*FailedRetryAction); ok && failed != nil {
			return w.late(errors.Join(cause, failed.Err))
		}
		if action == nil || action.Duration() <= 0 {
			return w.late(cause)
		}
		w.tries++
		select {
		case <-w.ctx.Done():
			return w.late(cause)
		case <-time.After(action.Duration()):
		}
	}
}

// late is the error of a wait that ended too early.
func (w *readiness) late(cause error) error {
	kind := ErrUnambiguousTimeout
	if err := w.ctx.Err(); err != nil {
		cause = fmt.Errorf("%w%w", cause, silent{err})
		if errors.Is(err, context.Canceled) {
			kind = ErrRequestCanceled
		}
	} else {
		kind = ErrRequestCanceled // the strategy ended the wait
	}
	return &TimeoutError{
		InnerError: timedOut(kind, cause), OperationID: "WaitUntilReady", TimeObserved: time.Since(w.began), RetryReasons: w.RetryReasons(),
		RetryAttempts: w.tries,
	}
}

// look returns nil if everything is ready, and otherwise what is not.
func (w *readiness) look() error {
	snapshot := w.cluster.cluster.Snapshot()
	if snapshot == nil {
		return explained(w.cluster.cluster.Err())
	}
	services := w.options.ServiceTypes
	if w.bucket != nil {
		if err := w.lookAtBucket(); err != nil && (len(services) == 0 || slices.Contains(services, ServiceTypeKeyValue)) {
			return err
		}
		if len(services) == 0 {
			return nil
		}
	}
	if len(services) == 0 {
		services = allServices
	}
	p := &pinger{cluster: w.cluster, bucket: w.bucket, ctx: w.ctx}
	p.run(withoutKeyValue(services))
	for service, reports := range p.reports {
		if err := w.judge(service, reports); err != nil {
			return err
		}
	}
	for _, service := range withoutKeyValue(w.options.ServiceTypes) {
		if len(p.reports[service]) == 0 {
			return ErrServiceNotAvailable
		}
	}
	return nil
}

// withoutKeyValue returns the services that are asked over HTTP.
func withoutKeyValue(services []ServiceType) []ServiceType {
	return slices.DeleteFunc(slices.Clone(services), func(s ServiceType) bool { return s == ServiceTypeKeyValue })
}

// judge returns an error if too few endpoints of a service answered.
func (w *readiness) judge(service ServiceType, reports []EndpointPingReport) error {
	good, text := 0, ""
	for _, r := range reports {
		if r.State == PingStateOk {
			good++
		} else {
			text = r.Error
		}
	}
	if good == len(reports) || good > 0 && w.options.DesiredState == ClusterStateDegraded {
		return nil
	}
	return errors.New("couchbase: the service " + service.reportName() + " does not answer: " + text)
}

// lookAtBucket returns nil if the bucket is open and its connections are as wanted.
func (w *readiness) lookAtBucket() error {
	b := w.bucket.bucket
	s := b.Snapshot()
	if s == nil {
		err := b.Err()
		if errors.Is(err, kv.ErrNoBucket) || errors.Is(err, kv.ErrNoAccess) {
			return errors.Join(ErrBucketNotFound, err)
		}
		return explained(err)
	}
	connected := 0
	var missing error
	endpoints := 0
	for _, e := range s.Endpoints {
		switch {
		case e == nil:
			continue
		case e.Conn() != nil:
			connected++
		default:
			missing = e.Err()
		}
		endpoints++
	}
	if connected == endpoints || connected > 0 && w.options.DesiredState == ClusterStateDegraded {
		return nil
	}
	return explained(missing)
}

// explained returns why there is no connection, with the sentinel of it.
func explained(err error) error {
	switch {
	case err == nil:
		return errNotReady
	case kv.IsLoginFailure(err):
		return errors.Join(ErrAuthenticationFailure, err)
	case errors.Is(err, cluster.ErrClosed):
		return ErrShutdown
	}
	return err
}
