package couchbase

import (
	"context"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// BucketManager makes, changes and removes buckets. It is safe for concurrent use.
type BucketManager struct{ cluster *Cluster }

// Buckets returns the manager of the cluster's buckets.
func (c *Cluster) Buckets() *BucketManager { return &BucketManager{c} }

// GetBucketOptions are the options of [BucketManager.GetBucket].
type GetBucketOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetBucket returns the settings of a bucket. It fails with [ErrBucketNotFound] if there is none of that name.
func (bm *BucketManager) GetBucket(bucketName string, opts *GetBucketOptions) (*BucketSettings, error) {
	if opts == nil {
		opts = &GetBucketOptions{}
	}
	if err := bm.check(bucketName); err != nil {
		return nil, err
	}
	var answer bucketJSON
	err := bm.cluster.http.get(managementGet{
		name: "manager_buckets_get_bucket", service: ServiceTypeManagement, in: keyspace{bucket: bucketName}, asked: clustermap.Management,
		path: bucketPath(bucketName), options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	settings := answer.settings()
	return &settings, nil
}

// check returns an error if a bucket's name is empty, or after Close.
func (bm *BucketManager) check(name string) error {
	if err := notEmpty("the name of the bucket", name); err != nil {
		return err
	}
	return bm.cluster.usable()
}

// GetAllBucketsOptions are the options of [BucketManager.GetAllBuckets].
type GetAllBucketsOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetAllBuckets returns the settings of all buckets by their names.
func (bm *BucketManager) GetAllBuckets(opts *GetAllBucketsOptions) (map[string]BucketSettings, error) {
	if opts == nil {
		opts = &GetAllBucketsOptions{}
	}
	if err := bm.cluster.usable(); err != nil {
		return nil, err
	}
	var answer []bucketJSON
	err := bm.cluster.http.get(managementGet{
		name: "manager_buckets_get_all_buckets", service: ServiceTypeManagement, asked: clustermap.Management, path: bucketsPath,
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	all := make(map[string]BucketSettings, len(answer))
	for i := range answer {
		all[answer[i].Name] = answer[i].settings()
	}
	return all, nil
}

// CreateBucketOptions are the options of [BucketManager.CreateBucket].
type CreateBucketOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// CreateBucket makes a bucket. It fails with [ErrBucketExists] if there is one of that name. The bucket may not be ready yet when it
// returns: see [Bucket.WaitUntilReady].
func (bm *BucketManager) CreateBucket(settings CreateBucketSettings, opts *CreateBucketOptions) error {
	if opts == nil {
		opts = &CreateBucketOptions{}
	}
	if err := settings.check(); err != nil {
		return err
	}
	if err := bm.cluster.usable(); err != nil {
		return err
	}
	return bm.cluster.http.change(managementChange{
		name: "manager_buckets_create_bucket", in: keyspace{bucket: settings.Name}, method: http.MethodPost, path: bucketsPath,
		form: settings.createForm(), options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// UpdateBucketOptions are the options of [BucketManager.UpdateBucket].
type UpdateBucketOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// UpdateBucket sets the settings of a bucket: all that can change. Read them first with GetBucket.
func (bm *BucketManager) UpdateBucket(settings BucketSettings, opts *UpdateBucketOptions) error {
	if opts == nil {
		opts = &UpdateBucketOptions{}
	}
	if err := settings.check(); err != nil {
		return err
	}
	if err := bm.cluster.usable(); err != nil {
		return err
	}
	return bm.cluster.http.change(managementChange{
		name: "manager_buckets_update_bucket", in: keyspace{bucket: settings.Name}, method: http.MethodPost, path: bucketPath(settings.Name),
		form: settings.form(), options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// DropBucketOptions are the options of [BucketManager.DropBucket].
type DropBucketOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// DropBucket removes a bucket with its documents. It fails with [ErrBucketNotFound] if there is none of that name.
func (bm *BucketManager) DropBucket(name string, opts *DropBucketOptions) error {
	if opts == nil {
		opts = &DropBucketOptions{}
	}
	if err := bm.check(name); err != nil {
		return err
	}
	return bm.cluster.http.change(managementChange{
		name: "manager_buckets_drop_bucket", in: keyspace{bucket: name}, method: http.MethodDelete, path: bucketPath(name),
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// FlushBucketOptions are the options of [BucketManager.FlushBucket].
type FlushBucketOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// FlushBucket removes all documents of a bucket. It fails with [ErrBucketNotFlushable] if the bucket's settings forbid that.
func (bm *BucketManager) FlushBucket(name string, opts *FlushBucketOptions) error {
	if opts == nil {
		opts = &FlushBucketOptions{}
	}
	if err := bm.check(name); err != nil {
		return err
	}
	return bm.cluster.http.change(managementChange{
		name: "manager_buckets_flush_bucket", in: keyspace{bucket: name}, method: http.MethodPost, path: bucketPath(name) + "/controller/doFlush",
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}
