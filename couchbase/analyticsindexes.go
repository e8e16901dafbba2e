package couchbase

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// AnalyticsIndexManager reads the datasets, indexes and links of the analytics service. This client creates and changes none: use a
// statement for that.
type AnalyticsIndexManager struct{ http *httpServices }

// AnalyticsIndexes returns the manager of the analytics service.
func (c *Cluster) AnalyticsIndexes() *AnalyticsIndexManager { return &AnalyticsIndexManager{c.http} }

// AnalyticsDataset is a dataset of the analytics service.
type AnalyticsDataset struct {
	Name          string
	DataverseName string
	LinkName      string
	BucketName    string
}

// UnmarshalJSON reads a dataset as the analytics service describes it.
func (d *AnalyticsDataset) UnmarshalJSON(b []byte) error {
	var row struct {
		DatasetName, DataverseName, LinkName, BucketName string // the service's names
	}
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	*d = AnalyticsDataset{Name: row.DatasetName, DataverseName: row.DataverseName, LinkName: row.LinkName, BucketName: row.BucketName}
	return nil
}

// AnalyticsIndex is an index of the analytics service.
type AnalyticsIndex struct {
	Name          string
	DatasetName   string
	DataverseName string
	IsPrimary     bool
}

// UnmarshalJSON reads an index as the analytics service describes it.
func (i *AnalyticsIndex) UnmarshalJSON(b []byte) error {
	var row struct {
		IndexName, DatasetName, DataverseName string // the service's names
		IsPrimary                             bool
	}
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	*i = AnalyticsIndex{Name: row.IndexName, DatasetName: row.DatasetName, DataverseName: row.DataverseName, IsPrimary: row.IsPrimary}
	return nil
}

// GetAllAnalyticsDatasetsOptions are the options of [AnalyticsIndexManager.GetAllDatasets].
type GetAllAnalyticsDatasetsOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetAllDatasets returns all datasets.
func (am *AnalyticsIndexManager) GetAllDatasets(opts *GetAllAnalyticsDatasetsOptions) ([]AnalyticsDataset, error) {
	if opts == nil {
		opts = new(GetAllAnalyticsDatasetsOptions)
	}
	return analyticsMetadata[AnalyticsDataset](am.http, "manager_analytics_get_all_datasets", "Dataset", httpOptions{
		timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context,
	})
}

// GetAllAnalyticsIndexesOptions are the options of [AnalyticsIndexManager.GetAllIndexes].
type GetAllAnalyticsIndexesOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetAllIndexes returns all indexes.
func (am *AnalyticsIndexManager) GetAllIndexes(opts *GetAllAnalyticsIndexesOptions) ([]AnalyticsIndex, error) {
	if opts == nil {
		opts = new(GetAllAnalyticsIndexesOptions)
	}
	return analyticsMetadata[AnalyticsIndex](am.http, "manager_analytics_get_all_indexes", "Index", httpOptions{
		timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context,
	})
}

// analyticsMetadata reads a table of the service's own dataverse.
func analyticsMetadata[T any](h *httpServices, name, table string, o httpOptions) (all []T, err error) {
	strategy := o.strategy
	o.strategy = nil // the query has it
	o.statement = "SELECT d.* FROM Metadata.`" + table + "` d WHERE d.DataverseName <> \"Metadata\""
	op, err := h.begin(name, ServiceTypeAnalytics, keyspace{}, o, h.timeouts.ManagementTimeout)
	if err != nil {
		return nil, err
	}
	err = op.run(func() error {
		rows, err := h.analytics(keyspace{}, o.statement, &AnalyticsOptions{
			Timeout: op.call.Timeout, RetryStrategy: strategy, ParentSpan: op.span, Context: op.ctx,
		})
		if err != nil {
			return err
		}
		all, err = allRows[T](rows)
		return err
	})
	return all, err
}

// GetPendingMutationsAnalyticsOptions are the options of [AnalyticsIndexManager.GetPendingMutations].
type GetPendingMutationsAnalyticsOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan
	Context       context.Context // nil: it has no end
}

// GetPendingMutations returns how many mutations the service has not read yet, by dataverse and dataset.
func (am *AnalyticsIndexManager) GetPendingMutations(opts *GetPendingMutationsAnalyticsOptions) (map[string]map[string]int, error) {
	if opts == nil {
		opts = new(GetPendingMutationsAnalyticsOptions)
	}
	var pending map[string]map[string]int
	err := am.http.get(managementGet{
		name: "manager_analytics_get_pending_mutations", service: ServiceTypeAnalytics, asked: clustermap.Analytics,
		path:    "/analytics/node/agg/stats/remaining",
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &pending)
	return pending, err
}

// GetAnalyticsLinksOptions are the options of [AnalyticsIndexManager.GetLinks].
type GetAnalyticsLinksOptions struct {
	Timeout       time.Duration // 0: the cluster's for management
	RetryStrategy RetryStrategy // nil: the cluster's
	ParentSpan    RequestSpan

	Dataverse string            // "part" or "part/part"; "": all
	LinkType  AnalyticsLinkType // "": all
	Name      string            // needs Dataverse; "": all

	Context context.Context // nil: it has no end
}

// GetLinks returns the links to other data. The service does not send their secrets.
func (am *AnalyticsIndexManager) GetLinks(opts *GetAnalyticsLinksOptions) ([]AnalyticsLink, error) {
	if opts == nil {
		opts = new(GetAnalyticsLinksOptions)
	}
	if opts.Name != "" && opts.Dataverse == "" {
		return nil, invalid("Name is set, but Dataverse is not")
	}
	var links []json.RawMessage
	err := am.http.get(managementGet{
		name: "manager_analytics_get_all_links", service: ServiceTypeAnalytics, asked: clustermap.Analytics, path: opts.path(),
		options: httpOptions{timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context},
	}, &links)
	if err != nil {
		return nil, err
	}
	var all []AnalyticsLink
	for _, raw := range links {
		link, err := readAnalyticsLink(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, link)
	}
	return all, nil
}

// path returns the path of the links. A dataverse with two parts belongs to the path, another one to the parameters.
func (o *GetAnalyticsLinksOptions) path() string {
	path := "/analytics/link"
	parameters := make(url.Values)
	if strings.Contains(o.Dataverse, "/") {
		path += "/" + url.PathEscape(o.Dataverse)
		if o.Name != "" {
			path += "/" + url.PathEscape(o.Name)
		}
	} else if o.Dataverse != "" {
		parameters.Set("dataverse", o.Dataverse)
		if o.Name != "" {
			parameters.Set("name", o.Name)
		}
	}
	if o.LinkType != "" {
		parameters.Set("type", string(o.LinkType))
	}
	if len(parameters) > 0 {
		path += "?" + parameters.Encode()
	}
	return path
}
