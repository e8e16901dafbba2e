package couchbase

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// CollectionHistorySettings says whether a collection keeps the history of its documents.
type CollectionHistorySettings struct {
	Enabled bool
}

// CollectionSpec describes a collection.
type CollectionSpec struct {
	Name      string
	ScopeName string
	// MaxExpiry is the longest time that a document lives; 0: the bucket's; -1 s: for ever.
	MaxExpiry time.Duration
	History   *CollectionHistorySettings // nil: the bucket's
}

// ScopeSpec describes a scope.
type ScopeSpec struct {
	Name        string
	Collections []CollectionSpec
}

// CreateCollectionSettings are the settings of a new collection.
type CreateCollectionSettings struct {
	// MaxExpiry is the longest time that a document lives; 0: the bucket's; -1 s: for ever.
	MaxExpiry time.Duration
	History   *CollectionHistorySettings // nil: the bucket's
}

// UpdateCollectionSettings are the settings that a collection can change.
type UpdateCollectionSettings struct {
	// MaxExpiry is the longest time that a document lives; 0: it is not changed; -1 s: for ever.
	MaxExpiry time.Duration
	History   *CollectionHistorySettings // nil: it is not changed
}

// noExpiry means that the documents of a collection live for ever, whatever the bucket says.
const noExpiry = -time.Second

// collectionForm returns settings as the cluster manager takes them.
func collectionForm(maxExpiry time.Duration, history *CollectionHistorySettings) (url.Values, error) {
	form := make(url.Values)
	switch {
	case maxExpiry < 0 && maxExpiry != noExpiry:
		return nil, invalid("MaxExpiry is %v; it must be -1s or not negative", maxExpiry)
	case isPartOfSecond(maxExpiry):
		return nil, invalid("MaxExpiry is %v; servers count in seconds", maxExpiry)
	case maxExpiry != 0:
		form.Set("maxTTL", strconv.FormatInt(int64(maxExpiry/time.Second), 10))
	}
	if history != nil {
		form.Set("history", strconv.FormatBool(history.Enabled))
	}
	return form, nil
}

// CollectionManagerV2 makes, changes and removes the scopes and collections of a bucket. It is safe for concurrent use.
type CollectionManagerV2 struct{ bucket *Bucket }

// CollectionsV2 returns the manager of the bucket's scopes and collections.
func (b *Bucket) CollectionsV2() *CollectionManagerV2 { return &CollectionManagerV2{b} }

// check returns an error if one of some names, after what they are, is empty, or after Close.
func (cm *CollectionManagerV2) check(names ...string) error {
	names = append(names, "the name of the bucket", cm.bucket.name)
	for i := 0; i < len(names); i += 2 {
		if err := notEmpty(names[i], names[i+1]); err != nil {
			return err
		}
	}
	return cm.bucket.cluster.usable()
}

func (cm *CollectionManagerV2) scopesPath() string { return bucketPath(cm.bucket.name) + "/scopes" }

func (cm *CollectionManagerV2) scopePath(scope string) string {
	return cm.scopesPath() + "/" + url.PathEscape(scope)
}

func (cm *CollectionManagerV2) collectionsPath(scope string) string {
	return cm.scopePath(scope) + "/collections"
}

func (cm *CollectionManagerV2) collectionPath(scope, collection string) string {
	return cm.collectionsPath(scope) + "/" + url.PathEscape(collection)
}

// GetAllScopesOptions are the options of [CollectionManagerV2.GetAllScopes].
type GetAllScopesOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// scopesJSON are the scopes of a bucket as the cluster manager sends them.
type scopesJSON struct {
	Scopes []struct {
		Name        string `json:"name"`
		Collections []struct {
			Name    string `json:"name"`
			MaxTTL  int64  `json:"maxTTL"`
			History *bool  `json:"history"`
		} `json:"collections"`
	} `json:"scopes"`
}

// GetAllScopes returns the scopes of the bucket with their collections.
func (cm *CollectionManagerV2) GetAllScopes(opts *GetAllScopesOptions) ([]ScopeSpec, error) {
	if opts == nil {
		opts = &GetAllScopesOptions{}
	}
	if err := cm.check(); err != nil {
		return nil, err
	}
	var answer scopesJSON
	err := cm.bucket.cluster.http.get(managementGet{
		name: "manager_collections_get_all_scopes", service: ServiceTypeManagement, in: keyspace{bucket: cm.bucket.name},
		asked: clustermap.Management, path: cm.scopesPath(), options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	scopes := make([]ScopeSpec, 0, len(answer.Scopes))
	for _, s := range answer.Scopes {
		scope := ScopeSpec{Name: s.Name}
		for _, c := range s.Collections {
			spec := CollectionSpec{Name: c.Name, ScopeName: s.Name, MaxExpiry: time.Duration(c.MaxTTL) * time.Second}
			if c.History != nil {
				spec.History = &CollectionHistorySettings{Enabled: *c.History}
			}
			scope.Collections = append(scope.Collections, spec)
		}
		scopes = append(scopes, scope)
	}
	return scopes, nil
}

// CreateScopeOptions are the options of [CollectionManagerV2.CreateScope].
type CreateScopeOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// CreateScope makes a scope. It fails with [ErrScopeExists] if there is one of that name.
func (cm *CollectionManagerV2) CreateScope(scopeName string, opts *CreateScopeOptions) error {
	if opts == nil {
		opts = &CreateScopeOptions{}
	}
	if err := cm.check("scopeName", scopeName); err != nil {
		return err
	}
	return cm.bucket.cluster.http.change(managementChange{
		name: "manager_collections_create_scope", in: keyspace{bucket: cm.bucket.name, scope: scopeName}, method: http.MethodPost,
		path: cm.scopesPath(), form: url.Values{"name": {scopeName}}, options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// DropScopeOptions are the options of [CollectionManagerV2.DropScope].
type DropScopeOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// DropScope removes a scope with its collections. It fails with [ErrScopeNotFound] if there is none of that name.
func (cm *CollectionManagerV2) DropScope(scopeName string, opts *DropScopeOptions) error {
	if opts == nil {
		opts = &DropScopeOptions{}
	}
	if err := cm.check("scopeName", scopeName); err != nil {
		return err
	}
	return cm.bucket.cluster.http.change(managementChange{
		name: "manager_collections_drop_scope", in: keyspace{bucket: cm.bucket.name, scope: scopeName}, method: http.MethodDelete,
		path: cm.scopePath(scopeName), options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// CreateCollectionOptions are the options of [CollectionManagerV2.CreateCollection].
type CreateCollectionOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// CreateCollection makes a collection. It fails with [ErrCollectionExists] if the scope has one of that name. settings may be nil.
func (cm *CollectionManagerV2) CreateCollection(
	scopeName string, collectionName string, settings *CreateCollectionSettings, opts *CreateCollectionOptions,
) error {
	if opts == nil {
		opts = &CreateCollectionOptions{}
	}
	if settings == nil {
		settings = &CreateCollectionSettings{}
	}
	if err := cm.check("scopeName", scopeName, "collectionName", collectionName); err != nil {
		return err
	}
	form, err := collectionForm(settings.MaxExpiry, settings.History)
	if err != nil {
		return err
	}
	form.Set("name", collectionName)
	return cm.bucket.cluster.http.change(managementChange{
		name: "manager_collections_create_collection", in: keyspace{cm.bucket.name, scopeName, collectionName}, method: http.MethodPost,
		path: cm.collectionsPath(scopeName), form: form, options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// UpdateCollectionOptions are the options of [CollectionManagerV2.UpdateCollection].
type UpdateCollectionOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// UpdateCollection changes the settings of a collection.
func (cm *CollectionManagerV2) UpdateCollection(
	scopeName string, collectionName string, settings UpdateCollectionSettings, opts *UpdateCollectionOptions,
) error {
	if opts == nil {
		opts = &UpdateCollectionOptions{}
	}
	if err := cm.check("scopeName", scopeName, "collectionName", collectionName); err != nil {
		return err
	}
	form, err := collectionForm(settings.MaxExpiry, settings.History)
	if err != nil {
		return err
	}
	return cm.bucket.cluster.http.change(managementChange{
		name: "manager_collections_update_collection", in: keyspace{cm.bucket.name, scopeName, collectionName}, method: http.MethodPatch,
		path: cm.collectionPath(scopeName, collectionName), form: form, options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// DropCollectionOptions are the options of [CollectionManagerV2.DropCollection].
type DropCollectionOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// DropCollection removes a collection with its documents. It fails with [ErrCollectionNotFound] if there is none of that name.
func (cm *CollectionManagerV2) DropCollection(scopeName string, collectionName string, opts *DropCollectionOptions) error {
	if opts == nil {
		opts = &DropCollectionOptions{}
	}
	if err := cm.check("scopeName", scopeName, "collectionName", collectionName); err != nil {
		return err
	}
	return cm.bucket.cluster.http.change(managementChange{
		name: "manager_collections_drop_collection", in: keyspace{cm.bucket.name, scopeName, collectionName}, method: http.MethodDelete,
		path: cm.collectionPath(scopeName, collectionName), options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	})
}

// CollectionManager is [CollectionManagerV2] with other arguments. It is safe for concurrent use.
//
// Deprecated: use CollectionManagerV2.
type CollectionManager struct{ manager *CollectionManagerV2 }

// Collections returns the manager of the bucket's scopes and collections.
//
// Deprecated: use CollectionsV2.
func (b *Bucket) Collections() *CollectionManager { return &CollectionManager{b.CollectionsV2()} }

// GetAllScopes returns the scopes of the bucket with their collections.
func (cm *CollectionManager) GetAllScopes(opts *GetAllScopesOptions) ([]ScopeSpec, error) {
	return cm.manager.GetAllScopes(opts)
}

// CreateScope makes a scope.
func (cm *CollectionManager) CreateScope(scopeName string, opts *CreateScopeOptions) error {
	return cm.manager.CreateScope(scopeName, opts)
}

// DropScope removes a scope with its collections.
func (cm *CollectionManager) DropScope(scopeName string, opts *DropScopeOptions) error {
	return cm.manager.DropScope(scopeName, opts)
}

// CreateCollection makes a collection.
func (cm *CollectionManager) CreateCollection(spec CollectionSpec, opts *CreateCollectionOptions) error {
	settings := CreateCollectionSettings{MaxExpiry: spec.MaxExpiry, History: spec.History}
	return cm.manager.CreateCollection(spec.ScopeName, spec.Name, &settings, opts)
}

// UpdateCollection changes the settings of a collection.
func (cm *CollectionManager) UpdateCollection(spec CollectionSpec, opts *UpdateCollectionOptions) error {
	settings := UpdateCollectionSettings{MaxExpiry: spec.MaxExpiry, History: spec.History}
	return cm.manager.UpdateCollection(spec.ScopeName, spec.Name, settings, opts)
}

// DropCollection removes a collection with its documents.
func (cm *CollectionManager) DropCollection(spec CollectionSpec, opts *DropCollectionOptions) error {
	return cm.manager.DropCollection(spec.ScopeName, spec.Name, opts)
}
