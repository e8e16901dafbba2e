package couchbase

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// ReadPreference says which nodes a read of replicas asks.
type ReadPreference uint8

// The preferences.
const (
	ReadPreferenceNone                ReadPreference = iota + 1 // all nodes that have the document
	ReadPreferenceSelectedServerGroup                           // those of them in ClusterOptions.PreferredServerGroup
)

// replicaOptions are the options of all reads of replicas.
type replicaOptions struct {
	preference ReadPreference
	capability string // that the bucket must have, "" for none
	call       callOptions
}

// replicaRead is a read of some copies of a document, side by side.
type replicaRead[T any] struct {
	answers chan T
	cancel  context.CancelFunc

	// After answers was closed:
	missing  error // why there is no answer
	panicked panics
}

// readReplicas reads the copies of a document. read reads one of them: 0 is the active node's.
func readReplicas[T any](
	c *Collection, id string, o replicaOptions, read func(copyIndex int, o callOptions) (T, error),
) (*replicaRead[T], error) {
	if err := c.checkCall(id, o.call); err != nil {
		return nil, err
	}
	if o.call.timeout == 0 {
		o.call.timeout = c.bucket.cluster.settings.timeouts.KVTimeout
	}
	ctx := o.call.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, o.call.timeout)
	copies, err := c.chooseCopies(ctx, id, o)
	if err != nil {
		cancel()
		return nil, err
	}
	o.call.ctx = ctx
	r := &replicaRead[T]{answers: make(chan T, len(copies)), cancel: cancel}
	var readers sync.WaitGroup
	var mu sync.Mutex
	for _, copyIndex := range copies {
		readers.Go(func() {
			defer r.panicked.catch()
			answer, err := read(copyIndex, o.call)
			if err == nil {
				r.answers <- answer
				return
			}
			mu.Lock()
			defer mu.Unlock()
			r.missing = errors.Join(r.missing, err)
		})
	}
	go func() {
		readers.Wait()
		cancel()
		close(r.answers)
	}()
	return r, nil
}

// next waits for another answer. It reports false if there is none any more. A panic of the application's code reaches the caller.
func (r *replicaRead[T]) next() (T, bool) {
	answer, ok := <-r.answers
	if !ok {
		r.panicked.rethrow()
	}
	return answer, ok
}

// first returns the first answer and ends the other reads.
func (r *replicaRead[T]) first() (T, error) {
	defer r.cancel()
	answer, ok := r.next()
	if ok {
		return answer, nil
	}
	missing := r.missing
	if missing == nil {
		missing = errors.New("couchbase: no node of the server group has the document")
	}
	return answer, &KeyValueError{InnerError: &failure{ErrDocumentUnretrievable, missing}}
}

// chooseCopies returns which copies of a document a read asks: 0 is the active node's. It waits until the bucket is open.
func (c *Collection) chooseCopies(ctx context.Context, id string, o replicaOptions) ([]int, error) {
	if o.preference > ReadPreferenceSelectedServerGroup {
		return nil, invalid("ReadPreference %d does not exist", o.preference)
	}
	group, grouped := c.bucket.cluster.settings.serverGroup, o.preference == ReadPreferenceSelectedServerGroup
	if grouped && group == "" {
		return nil, fmt.Errorf("%w%w", invalid("ReadPreferenceSelectedServerGroup needs ClusterOptions.PreferredServerGroup"), silent{ErrDocumentUnretrievable})
	}
	s, err := c.bucket.opened(ctx)
	if err != nil {
		return nil, err
	}
	if o.capability != "" && !s.Map.BucketCan(o.capability) {
		return nil, fmt.Errorf("couchbase: the bucket has not the capability %s%w", o.capability, silent{ErrFeatureNotAvailable})
	}
	var copies []int
	for i := range 1 + s.Map.Replicas {
		if !grouped || groupOf(s.Map, id, i) == group {
			copies = append(copies, i)
		}
	}
	return copies, nil
}

// groupOf returns the server group of the node that has a copy of a document, or "" if there is none.
func groupOf(m *clustermap.Map, id string, copyIndex int) string {
	if m.VBuckets() == 0 {
		return ""
	}
	vbucket := memd.VBucket([]byte(id), m.VBuckets())
	node := m.Active(vbucket)
	if copyIndex > 0 {
		node = m.Replica(vbucket, copyIndex-1)
	}
	if node == clustermap.None {
		return ""
	}
	return m.Nodes[node].Group
}

// opened waits until the bucket is open, and returns what it knows.
func (b *Bucket) opened(ctx context.Context) (*cluster.Snapshot, error) {
	began := time.Now()
	for {
		if s := b.bucket.Snapshot(); s != nil {
			return s, nil
		}
		err, news := b.bucket.Opening()
		switch {
		case kv.IsLoginFailure(err):
			return nil, fmt.Errorf("couchbase: %w%w", err, silent{ErrAuthenticationFailure})
		case errors.Is(err, cluster.ErrClosed):
			return nil, ErrShutdown
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, b.notOpened(ctx, began, err)
		}
	}
}

// notOpened is the error of a wait for a bucket that ended too early.
func (b *Bucket) notOpened(ctx context.Context, began time.Time, cause error) error {
	if cause == nil {
		cause = errors.New("couchbase: the bucket is being opened")
	}
	if errors.Is(cause, kv.ErrNoBucket) || errors.Is(cause, kv.ErrNoAccess) {
		cause = fmt.Errorf("%w: %w", ErrBucketNotFound, cause)
	}
	cause = fmt.Errorf("%w%w", cause, silent{ctx.Err()})
	if errors.Is(ctx.Err(), context.Canceled) {
		return &KeyValueError{InnerError: &failure{ErrRequestCanceled, cause}, BucketName: b.name}
	}
	return &TimeoutError{InnerError: timedOut(ErrUnambiguousTimeout, cause), TimeObserved: time.Since(began)}
}
