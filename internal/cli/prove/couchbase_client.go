package prove

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/retry"
)

// bucketName is the bucket that every couchbasetest cluster has.
const bucketName = "default"

// couchbaseClient is a client of the experiment.
type couchbaseClient struct {
	cluster *couchbase.Cluster
	docs    *couchbase.Collection
}

var _ session = (*couchbaseClient)(nil)

// newCouchbaseClient returns a client that has its connections. Without them the operations of a client that does not retry would fail.
func newCouchbaseClient(c *couchbasetest.Cluster, t Timing, failFast bool) (*couchbaseClient, error) {
	opts := couchbase.ClusterOptions{
		Username: c.Username(), Password: c.Password(),
		TimeoutsConfig: couchbase.TimeoutsConfig{ConnectTimeout: t.Connect, KVTimeout: t.KeyValue, KVDurableTimeout: t.Durable},
		// The experiment reads the operations' names out of the messages.
		CompressionConfig: couchbase.CompressionConfig{Disabled: true},
	}
	if failFast {
		opts.RetryStrategy = failFastStrategy{}
	}
	cluster, err := couchbase.Open(c.ConnectionString(), couchbase.Config{Dial: c.Dialer().DialContext}, opts)
	if err != nil {
		return nil, err
	}
	bucket := cluster.Bucket(bucketName)
	if err := bucket.WaitUntilReady(endLimit, &couchbase.WaitUntilReadyOptions{
		ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue}, RetryStrategy: couchbase.NewBestEffortRetryStrategy(nil),
	}); err != nil {
		return nil, errors.Join(err, cluster.Close(nil))
	}
	return &couchbaseClient{cluster: cluster, docs: bucket.DefaultCollection()}, nil
}

// failFastStrategy never retries.
type failFastStrategy struct{}

// RetryAfter implements [couchbase.RetryStrategy].
func (failFastStrategy) RetryAfter(couchbase.RetryRequest, couchbase.RetryReason) couchbase.RetryAction {
	return &couchbase.NoRetryRetryAction{}
}

// Judge uses the errors that applications compare with and, for the others, the history of the attempts.
func (c *couchbaseClient) Judge(err error) Trouble {
	var history *retry.Error
	switch {
	case errors.Is(err, couchbase.ErrUnambiguousTimeout):
		return Trouble{Claim: NotApplied}
	case errors.Is(err, couchbase.ErrAmbiguousTimeout), errors.Is(err, couchbase.ErrRequestCanceled), errors.Is(err, couchbase.ErrDurabilityAmbiguous):
		return Trouble{Claim: Unknown}
	case errors.As(err, &history) && !history.OutcomeKnown():
		return Trouble{Claim: Unknown}
	}
	return Trouble{Claim: NotApplied}
}

// Close implements session.
func (c *couchbaseClient) Close(context.Context) error { return c.cluster.Close(nil) }
