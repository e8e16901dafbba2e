package couchbase

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// SearchIndex is the definition of an index of the search service.
type SearchIndex struct {
	UUID         string
	Name         string
	SourceName   string // a bucket, for example
	Type         string // "fulltext-index" or "fulltext-alias"
	Params       map[string]any
	SourceUUID   string
	SourceParams map[string]any
	SourceType   string
	PlanParams   map[string]any
}

// searchIndexJSON is an index as the search service describes it.
type searchIndexJSON struct {
	UUID         string         `json:"uuid,omitempty"`
	Name         string         `json:"name,omitempty"`
	SourceName   string         `json:"sourceName,omitempty"`
	Type         string         `json:"type,omitempty"`
	Params       map[string]any `json:"params,omitempty"`
	SourceUUID   string         `json:"sourceUUID,omitempty"`
	SourceParams map[string]any `json:"sourceParams,omitempty"`
	SourceType   string         `json:"sourceType,omitempty"`
	PlanParams   map[string]any `json:"planParams,omitempty"`
}

// MarshalJSON returns the index as the search service describes it.
func (si *SearchIndex) MarshalJSON() ([]byte, error) { return json.Marshal(searchIndexJSON(*si)) }

// UnmarshalJSON reads an index as the search service describes it.
func (si *SearchIndex) UnmarshalJSON(bytes []byte) error {
	return json.Unmarshal(bytes, (*searchIndexJSON)(si))
}

// SearchIndexManager reads the search indexes of the cluster. This client creates and changes none.
type SearchIndexManager struct{ http *httpServices }

// SearchIndexes returns the manager of the cluster's search indexes.
func (c *Cluster) SearchIndexes() *SearchIndexManager { return &SearchIndexManager{c.http} }

// ScopeSearchIndexManager reads the search indexes of a scope. This client creates and changes none.
type ScopeSearchIndexManager struct{ scope *Scope }

// SearchIndexes returns the manager of the scope's search indexes.
func (s *Scope) SearchIndexes() *ScopeSearchIndexManager { return &ScopeSearchIndexManager{s} }

// GetAllSearchIndexOptions are the options of GetAllIndexes.
type GetAllSearchIndexOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetAllIndexes returns the indexes of the cluster.
func (sm *SearchIndexManager) GetAllIndexes(opts *GetAllSearchIndexOptions) ([]SearchIndex, error) {
	return sm.http.searchIndexes(keyspace{}, opts)
}

// GetAllIndexes returns the indexes of the scope.
func (sm *ScopeSearchIndexManager) GetAllIndexes(opts *GetAllSearchIndexOptions) ([]SearchIndex, error) {
	return sm.scope.bucket.cluster.http.searchIndexes(sm.scope.keyspace(), opts)
}

func (h *httpServices) searchIndexes(in keyspace, opts *GetAllSearchIndexOptions) ([]SearchIndex, error) {
	if opts == nil {
		opts = new(GetAllSearchIndexOptions)
	}
	var answer struct {
		Defs struct {
			ByName map[string]*SearchIndex `json:"indexDefs"`
		} `json:"indexDefs"`
	}
	err := h.get(managementGet{
		name: "manager_search_get_all_indexes", service: ServiceTypeSearch, in: in, asked: clustermap.Search, path: searchIndexesPath(in),
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	var all []SearchIndex
	for _, name := range slices.Sorted(maps.Keys(answer.Defs.ByName)) {
		if index := answer.Defs.ByName[name]; index != nil {
			all = append(all, *index)
		}
	}
	return all, nil
}

// GetSearchIndexOptions are the options of GetIndex.
type GetSearchIndexOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetIndex returns an index of the cluster. It returns [ErrIndexNotFound] if there is none of this name.
func (sm *SearchIndexManager) GetIndex(indexName string, opts *GetSearchIndexOptions) (*SearchIndex, error) {
	return sm.http.searchIndex(keyspace{}, indexName, opts)
}

// GetIndex returns an index of the scope. It returns [ErrIndexNotFound] if there is none of this name.
func (sm *ScopeSearchIndexManager) GetIndex(indexName string, opts *GetSearchIndexOptions) (*SearchIndex, error) {
	return sm.scope.bucket.cluster.http.searchIndex(sm.scope.keyspace(), indexName, opts)
}

func (h *httpServices) searchIndex(in keyspace, name string, opts *GetSearchIndexOptions) (*SearchIndex, error) {
	if opts == nil {
		opts = new(GetSearchIndexOptions)
	}
	if name == "" {
		return nil, invalid("the name of the index is empty")
	}
	var answer struct {
		Def *SearchIndex `json:"indexDef"`
	}
	err := h.get(managementGet{
		name: "manager_search_get_index", service: ServiceTypeSearch, in: in, asked: clustermap.Search, path: searchIndexPath(in, name),
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err == nil && answer.Def == nil {
		err = fmt.Errorf("%w: the answer has no definition of the index %q", ErrDecodingFailure, name)
	}
	return answer.Def, err
}

// GetIndexedDocumentsCountOptions are the options of GetIndexedDocumentsCount.
type GetIndexedDocumentsCountOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetIndexedDocumentsCount returns the number of documents in an index of the cluster.
func (sm *SearchIndexManager) GetIndexedDocumentsCount(indexName string, opts *GetIndexedDocumentsCountOptions) (uint64, error) {
	return sm.http.indexedDocuments(keyspace{}, indexName, opts)
}

// GetIndexedDocumentsCount returns the number of documents in an index of the scope.
func (sm *ScopeSearchIndexManager) GetIndexedDocumentsCount(indexName string, opts *GetIndexedDocumentsCountOptions) (uint64, error) {
	return sm.scope.bucket.cluster.http.indexedDocuments(sm.scope.keyspace(), indexName, opts)
}

func (h *httpServices) indexedDocuments(in keyspace, name string, opts *GetIndexedDocumentsCountOptions) (uint64, error) {
	if opts == nil {
		opts = new(GetIndexedDocumentsCountOptions)
	}
	if name == "" {
		return 0, invalid("the name of the index is empty")
	}
	var answer struct {
		Count uint64 `json:"count"`
	}
	err := h.get(managementGet{
		name: "manager_search_get_indexed_documents_count", service: ServiceTypeSearch, in: in, asked: clustermap.Search,
		path:    searchIndexPath(in, name) + "/count",
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	return answer.Count, err
}
