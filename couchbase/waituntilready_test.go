package couchbase_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// strategyFunc is a strategy made of a function.
type strategyFunc func(couchbase.RetryRequest, couchbase.RetryReason) couchbase.RetryAction

func (f strategyFunc) RetryAfter(r couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	return f(r, reason)
}

func TestHowAWaitUntilReadyEnds(t *testing.T) {
	mine := errors.New("mine")
	after := func(action couchbase.RetryAction) couchbase.RetryStrategy {
		return strategyFunc(func(r couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
			if reason == couchbase.NotReadyRetryReason && r.RetryAttempts() < 2 {
				return &couchbase.WithDurationRetryAction{WithDuration: 10 * time.Millisecond}
			}
			return action
		})
	}
	cancelled := func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(70*time.Millisecond, cancel)
		return ctx
	}
	ended := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		time.AfterFunc(time.Second, cancel)
		return ctx
	}
	for _, test := range []struct {
		name  string
		o     func() couchbase.WaitUntilReadyOptions
		after time.Duration
		is    []error
		isNot []error
	}{
		{"its timeout", func() couchbase.WaitUntilReadyOptions { return couchbase.WaitUntilReadyOptions{} }, 100 * time.Millisecond, []error{couchbase.ErrTimeout, couchbase.ErrUnambiguousTimeout, couchbase.ErrBucketNotFound}, []error{couchbase.ErrRequestCanceled}},
		{"the deadline of its context", func() couchbase.WaitUntilReadyOptions { return couchbase.WaitUntilReadyOptions{Context: ended()} }, 30 * time.Millisecond, []error{couchbase.ErrUnambiguousTimeout, context.DeadlineExceeded, couchbase.ErrBucketNotFound}, []error{couchbase.ErrRequestCanceled}},
		{"the cancellation of its context", func() couchbase.WaitUntilReadyOptions { return couchbase.WaitUntilReadyOptions{Context: cancelled()} }, 70 * time.Millisecond, []error{couchbase.ErrRequestCanceled, context.Canceled, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
		{"a strategy that declines", func() couchbase.WaitUntilReadyOptions {
			return couchbase.WaitUntilReadyOptions{RetryStrategy: after(&couchbase.NoRetryRetryAction{})}
		}, 20 * time.Millisecond, []error{couchbase.ErrRequestCanceled, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
		{"a strategy without an action", func() couchbase.WaitUntilReadyOptions {
			return couchbase.WaitUntilReadyOptions{RetryStrategy: after(nil)}
		}, 20 * time.Millisecond, []error{couchbase.ErrRequestCanceled, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
		{"a strategy that fails", func() couchbase.WaitUntilReadyOptions {
			return couchbase.WaitUntilReadyOptions{RetryStrategy: after(&couchbase.FailedRetryAction{Err: mine})}
		}, 20 * time.Millisecond, []error{mine, couchbase.ErrBucketNotFound}, []error{couchbase.ErrTimeout}},
	} {
		t.Run(test.name, func(t *testing.T) {
			withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
				if err := client.WaitUntilReady(time.Second, &couchbase.WaitUntilReadyOptions{ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeManagement}}); err != nil {
					t.Fatal(err)
				}
				o := test.o()
				began := time.Now()
				err := client.Bucket("none").WaitUntilReady(100*time.Millisecond, &o)
				if took := time.Since(began); took != test.after {
					t.Errorf("it ended after %v", took)
				}
				for _, want := range test.is {
					if !errors.Is(err, want) {
						t.Errorf("%v does not match %q", err, want)
					}
				}
				for _, not := range test.isNot {
					if errors.Is(err, not) {
						t.Errorf("%v matches %q", err, not)
					}
				}
			})
		})
	}
}

// Degraded means that something works: at least one connection, and one node of each service.
func TestNothingWorksIsNotDegraded(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		b := client.Bucket("default")
		if err := b.WaitUntilReady(5*time.Second, nil); err != nil {
			t.Fatal(err)
		}
		server.Kill(0)
		server.Kill(1)
		<-time.After(time.Second)
		degraded := couchbase.WaitUntilReadyOptions{DesiredState: couchbase.ClusterStateDegraded}
		if err := b.WaitUntilReady(time.Second, &degraded); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("the bucket: %v", err)
		}
		degraded.ServiceTypes = []couchbase.ServiceType{couchbase.ServiceTypeQuery}
		if err := client.WaitUntilReady(time.Second, &degraded); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("the query service: %v", err)
		}
		if d := must[*couchbase.DiagnosticsResult](t)(client.Diagnostics(nil)); d.State != couchbase.ClusterStateOffline {
			t.Errorf("the diagnostics: %v", d.State)
		}
	}, couchbasetest.Nodes(2))
}

func TestCloseEndsAWaitUntilReady(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		server.Kill(0)
		b := client.Bucket("default")
		time.AfterFunc(10*time.Second, func() { client.Close(nil) })
		began := time.Now()
		err := b.WaitUntilReady(time.Minute, nil)
		if took := time.Since(began); !errors.Is(err, couchbase.ErrShutdown) || errors.Is(err, couchbase.ErrTimeout) || took > 10*time.Second+500*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
	})
}
