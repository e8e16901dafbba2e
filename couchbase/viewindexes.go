package couchbase

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// View is a view of a design document, as JavaScript.
type View struct {
	Map    string
	Reduce string
}

// DesignDocument is a set of views.
type DesignDocument struct {
	Name  string // without the prefix of those in development
	Views map[string]View
}

// designJSON is a design document as the service sends it.
type designJSON struct {
	Views map[string]struct {
		Map    string `json:"map"`
		Reduce string `json:"reduce"`
	} `json:"views"`
}

func (d *designJSON) document(name string) DesignDocument {
	document := DesignDocument{Name: strings.TrimPrefix(name, developmentPrefix), Views: make(map[string]View, len(d.Views))}
	for name, v := range d.Views {
		document.Views[name] = View(v)
	}
	return document
}

// ViewIndexManager reads the design documents of a bucket. This client creates and changes none.
type ViewIndexManager struct{ bucket *Bucket }

// ViewIndexes returns the manager of the bucket's design documents.
func (b *Bucket) ViewIndexes() *ViewIndexManager { return &ViewIndexManager{b} }

// GetDesignDocumentOptions are the options of [ViewIndexManager.GetDesignDocument].
type GetDesignDocumentOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetDesignDocument returns a design document. It returns [ErrDesignDocumentNotFound] if there is none of this name.
func (vm *ViewIndexManager) GetDesignDocument(
	name string, namespace DesignDocumentNamespace, opts *GetDesignDocumentOptions,
) (*DesignDocument, error) {
	if opts == nil {
		opts = new(GetDesignDocumentOptions)
	}
	path, err := designPath(vm.bucket.name, name, namespace)
	if err != nil {
		return nil, err
	}
	var answer designJSON
	err = vm.bucket.cluster.http.get(managementGet{
		name: "manager_views_get_design_document", service: ServiceTypeViews, in: keyspace{bucket: vm.bucket.name},
		asked: clustermap.Views, bucket: vm.bucket.name, path: path,
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	document := answer.document(name)
	return &document, nil
}

// GetAllDesignDocumentsOptions are the options of [ViewIndexManager.GetAllDesignDocuments].
type GetAllDesignDocumentsOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetAllDesignDocuments returns the design documents of a namespace.
func (vm *ViewIndexManager) GetAllDesignDocuments(
	namespace DesignDocumentNamespace, opts *GetAllDesignDocumentsOptions,
) ([]DesignDocument, error) {
	if opts == nil {
		opts = new(GetAllDesignDocumentsOptions)
	}
	switch {
	case vm.bucket.name == "":
		return nil, invalid("the name of the bucket is empty")
	case namespace > DesignDocumentNamespaceDevelopment:
		return nil, invalid("the namespace is %d: there is no such namespace", namespace)
	}
	var answer struct {
		Rows []struct {
			Doc struct {
				Meta struct {
					ID string `json:"id"`
				} `json:"meta"`
				JSON json.RawMessage `json:"json"`
			} `json:"doc"`
		} `json:"rows"`
	}
	err := vm.bucket.cluster.http.get(managementGet{
		name: "manager_views_get_all_design_documents", service: ServiceTypeViews, in: keyspace{bucket: vm.bucket.name},
		asked: clustermap.Management, path: "/pools/default/buckets/" + url.PathEscape(vm.bucket.name) + "/ddocs",
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &answer)
	if err != nil {
		return nil, err
	}
	var all []DesignDocument
	for _, row := range answer.Rows {
		name := strings.TrimPrefix(row.Doc.Meta.ID, "_design/")
		if strings.HasPrefix(name, developmentPrefix) != (namespace == DesignDocumentNamespaceDevelopment) {
			continue
		}
		var design designJSON
		if err := json.Unmarshal(row.Doc.JSON, &design); err != nil {
			return nil, err
		}
		all = append(all, design.document(name))
	}
	return all, nil
}
