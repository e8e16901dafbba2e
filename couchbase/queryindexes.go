package couchbase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
)

// QueryIndexType is the kind of an index of the query service.
type QueryIndexType string

// The kinds.
const (
	QueryIndexTypeGsi  QueryIndexType = "gsi"
	QueryIndexTypeView QueryIndexType = "views"
)

// QueryIndex is an index of the query service.
type QueryIndex struct {
	Name           string
	IsPrimary      bool
	Type           QueryIndexType
	State          string // "online" if the index can be used
	Keyspace       string
	Namespace      string
	IndexKey       []string
	Condition      string
	Partition      string
	CollectionName string // "" for an index of a whole bucket
	ScopeName      string
	BucketName     string
}

// UnmarshalJSON reads an index as the query service describes it.
func (i *QueryIndex) UnmarshalJSON(b []byte) error {
	var row struct {
		Name      string         `json:"name"`
		IsPrimary bool           `json:"is_primary"`
		Using     QueryIndexType `json:"using"`
		State     string         `json:"state"`
		Keyspace  string         `json:"keyspace_id"`
		Namespace string         `json:"namespace_id"`
		IndexKey  []string       `json:"index_key"`
		Condition string         `json:"condition"`
		Partition string         `json:"partition"`
		Scope     string         `json:"scope_id"`
		Bucket    string         `json:"bucket_id"`
	}
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	*i = QueryIndex{
		Name: row.Name, IsPrimary: row.IsPrimary, Type: row.Using, State: row.State, Keyspace: row.Keyspace, Namespace: row.Namespace,
		IndexKey: row.IndexKey, Condition: row.Condition, Partition: row.Partition, CollectionName: row.Keyspace, ScopeName: row.Scope,
		BucketName: row.Bucket,
	}
	if row.Bucket == "" { // an index of a whole bucket
		i.BucketName, i.CollectionName = row.Keyspace, ""
	}
	return nil
}

// QueryIndexManager reads the indexes of the query service. This client creates and changes none: use a statement for that.
type QueryIndexManager struct{ http *httpServices }

// QueryIndexes returns the manager of the indexes of the query service.
func (c *Cluster) QueryIndexes() *QueryIndexManager { return &QueryIndexManager{c.http} }

// GetAllQueryIndexesOptions are the options of GetAllIndexes.
type GetAllQueryIndexesOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan

	// ScopeName and CollectionName limit the result to them.
	//
	// Deprecated: use [Collection.QueryIndexes].
	ScopeName      string
	CollectionName string

	Context context.Context // nil: it has no end
}

// GetAllIndexes returns the indexes of a bucket.
func (qm *QueryIndexManager) GetAllIndexes(bucketName string, opts *GetAllQueryIndexesOptions) ([]QueryIndex, error) {
	if opts == nil {
		opts = new(GetAllQueryIndexesOptions)
	}
	if opts.CollectionName != "" && opts.ScopeName == "" {
		return nil, invalid("CollectionName is set, but ScopeName is not")
	}
	where := "(bucket_id = $bucketName OR (bucket_id IS MISSING AND keyspace_id = $bucketName))"
	parameters := map[string]any{"bucketName": bucketName}
	switch {
	case opts.CollectionName != "":
		where = "((bucket_id = $bucketName AND scope_id = $scopeName) AND keyspace_id = $collectionName)"
		parameters["scopeName"], parameters["collectionName"] = opts.ScopeName, opts.CollectionName
	case opts.ScopeName != "":
		where = "((bucket_id = $bucketName AND scope_id = $scopeName) OR (bucket_id IS MISSING AND keyspace_id = $bucketName))"
		parameters["scopeName"] = opts.ScopeName
	}
	return qm.http.queryIndexes(keyspace{}, keyspace{}, where, parameters, opts)
}

// queryIndexes reads the indexes that meet a condition. The statement runs in the context of one keyspace and is measured with another.
func (h *httpServices) queryIndexes(
	context, measured keyspace, where string, parameters map[string]any, opts *GetAllQueryIndexesOptions,
) (indexes []QueryIndex, err error) {
	op, err := h.begin("manager_query_get_all_indexes", ServiceTypeQuery, measured, httpOptions{
		timeout: opts.Timeout, parent: opts.ParentSpan, ctx: opts.Context,
	}, h.timeouts.ManagementTimeout)
	if err != nil {
		return nil, err
	}
	statement := "SELECT `idx`.* FROM system:indexes AS idx WHERE " + where + " AND `using` = \"gsi\" ORDER BY is_primary DESC, name ASC"
	err = op.run(func() error {
		rows, err := h.query(context, statement, &QueryOptions{
			Adhoc: true, Readonly: true, NamedParameters: parameters, Timeout: op.call.Timeout, RetryStrategy: opts.RetryStrategy,
			ParentSpan: op.span, Context: op.ctx,
		})
		if err != nil {
			return err
		}
		indexes, err = allRows[QueryIndex](rows)
		return err
	})
	return indexes, err
}

// allRows reads a result whose rows are all of one type, and closes it.
func allRows[T any](rows interface {
	Next() bool
	Row(valuePtr any) error
	Err() error
	Close() error
},
) (all []T, err error) {
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := rows.Row(&row); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// WatchQueryIndexOptions are the options of WatchIndexes.
type WatchQueryIndexOptions struct {
	WatchPrimary bool // the primary index is watched too

	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan

	// ScopeName and CollectionName limit the indexes to them.
	//
	// Deprecated: use [Collection.QueryIndexes].
	ScopeName      string
	CollectionName string

	Context context.Context // nil: it has no end
}

// WatchIndexes waits until indexes of a bucket are online. It returns [ErrIndexNotFound] if one is not there.
func (qm *QueryIndexManager) WatchIndexes(bucketName string, watchList []string, timeout time.Duration, opts *WatchQueryIndexOptions) error {
	if opts == nil {
		opts = new(WatchQueryIndexOptions)
	}
	return qm.http.watchIndexes(keyspace{}, watchList, timeout, opts, func(get *GetAllQueryIndexesOptions) ([]QueryIndex, error) {
		get.ScopeName, get.CollectionName = opts.ScopeName, opts.CollectionName
		return qm.GetAllIndexes(bucketName, get)
	})
}

// The delays between two looks at the indexes.
const (
	minIndexPoll = 50 * time.Millisecond
	maxIndexPoll = time.Second
)

// watchIndexes calls get until all indexes are online.
func (h *httpServices) watchIndexes(
	in keyspace, names []string, timeout time.Duration, opts *WatchQueryIndexOptions,
	get func(*GetAllQueryIndexesOptions) ([]QueryIndex, error),
) (err error) {
	if timeout <= 0 {
		return invalid("the timeout is %v: it must be positive", timeout)
	}
	if opts.WatchPrimary {
		names = append(slices.Clone(names), "#primary")
	}
	op, err := h.begin("manager_query_watch_indexes", ServiceTypeQuery, in, httpOptions{timeout: timeout, parent: opts.ParentSpan, ctx: opts.Context}, 0)
	if err != nil {
		return err
	}
	return op.run(func() error { return op.watchIndexes(names, timeout, opts.RetryStrategy, get) })
}

// watchIndexes is one wait, within its operation.
func (op *httpOperation) watchIndexes(
	names []string, timeout time.Duration, strategy RetryStrategy, get func(*GetAllQueryIndexesOptions) ([]QueryIndex, error),
) error {
	ctx, cancel := context.WithTimeout(op.ctx, timeout)
	defer cancel()
	for delay := minIndexPoll; ; delay = min(2*delay, maxIndexPoll) {
		deadline, _ := ctx.Deadline()
		indexes, err := get(&GetAllQueryIndexesOptions{
			Timeout: max(time.Until(deadline), 1), RetryStrategy: strategy, ParentSpan: op.span, Context: ctx,
		})
		if err != nil {
			return err
		}
		if online, err := allOnline(indexes, names); online || err != nil {
			return err
		}
		if err := pauseFor(ctx, delay); err != nil {
			return err
		}
	}
}

// pauseFor waits. The error is that of ctx, as a timeout or as a cancellation.
func pauseFor(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrUnambiguousTimeout, ctx.Err())
	}
	return fmt.Errorf("%w: %w", ErrRequestCanceled, context.Cause(ctx))
}

// allOnline reports whether all named indexes are online.
func allOnline(indexes []QueryIndex, names []string) (bool, error) {
	online := true
	for _, name := range names {
		i := slices.IndexFunc(indexes, func(index QueryIndex) bool { return index.Name == name })
		if i < 0 {
			return false, fmt.Errorf("%w: %q", ErrIndexNotFound, name)
		}
		online = online && indexes[i].State == "online"
	}
	return online, nil
}

// CollectionQueryIndexManager reads the indexes of a collection. This client creates and changes none: use a statement for that.
type CollectionQueryIndexManager struct{ collection *Collection }

// QueryIndexes returns the manager of the collection's indexes.
func (c *Collection) QueryIndexes() *CollectionQueryIndexManager {
	return &CollectionQueryIndexManager{c}
}

// GetAllIndexes returns the indexes of the collection. ScopeName and CollectionName of the options must not be set.
func (qm *CollectionQueryIndexManager) GetAllIndexes(opts *GetAllQueryIndexesOptions) ([]QueryIndex, error) {
	if opts == nil {
		opts = new(GetAllQueryIndexesOptions)
	}
	if opts.ScopeName != "" || opts.CollectionName != "" {
		return nil, invalid("ScopeName and CollectionName are those of the collection: they must not be set")
	}
	c := qm.collection
	in := keyspace{bucket: c.bucket.name, scope: c.scope, collection: c.name}
	where := "(bucket_id=$bucketName AND scope_id=$scopeName AND keyspace_id=$collectionName)"
	if in.scope == cluster.DefaultName && in.collection == cluster.DefaultName {
		where = "(" + where + " OR (bucket_id IS MISSING and keyspace_id=$bucketName)) "
	}
	parameters := map[string]any{"bucketName": in.bucket, "scopeName": in.scope, "collectionName": in.collection}
	return c.bucket.cluster.http.queryIndexes(keyspace{bucket: in.bucket, scope: in.scope}, in, where, parameters, opts)
}

// WatchIndexes waits until indexes of the collection are online. It returns [ErrIndexNotFound] if one is not there. ScopeName and
// CollectionName of the options must not be set.
func (qm *CollectionQueryIndexManager) WatchIndexes(watchList []string, timeout time.Duration, opts *WatchQueryIndexOptions) error {
	if opts == nil {
		opts = new(WatchQueryIndexOptions)
	}
	if opts.ScopeName != "" || opts.CollectionName != "" {
		return invalid("ScopeName and CollectionName are those of the collection: they must not be set")
	}
	c := qm.collection
	in := keyspace{bucket: c.bucket.name, scope: c.scope, collection: c.name}
	return c.bucket.cluster.http.watchIndexes(in, watchList, timeout, opts, qm.GetAllIndexes)
}
