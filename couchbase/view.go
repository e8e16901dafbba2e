package couchbase

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
	"github.com/holdfast-db/holdfast/retry"
)

// ViewScanConsistency is how up to date a view must be.
type ViewScanConsistency uint

// The consistencies of views.
const (
	// ViewScanConsistencyNotBounded: the view as it is.
	ViewScanConsistencyNotBounded ViewScanConsistency = iota + 1
	// ViewScanConsistencyRequestPlus: the view is updated first.
	ViewScanConsistencyRequestPlus
	// ViewScanConsistencyUpdateAfter: the view as it is; it is updated afterwards.
	ViewScanConsistencyUpdateAfter
)

// ViewOrdering is the order of the rows, by their keys.
type ViewOrdering uint

// The orders.
const (
	ViewOrderingAscending ViewOrdering = iota + 1
	ViewOrderingDescending
)

// ViewErrorMode says what the service does if a node fails.
type ViewErrorMode uint

// The modes.
const (
	// ViewErrorModeContinue: the rows of the other nodes are sent.
	ViewErrorModeContinue ViewErrorMode = iota + 1
	// ViewErrorModeStop: no further row is sent.
	ViewErrorModeStop
)

// DesignDocumentNamespace says whether a design document is in production or in development. The names of those in development
// begin with "dev_".
type DesignDocumentNamespace uint

// The namespaces.
const (
	DesignDocumentNamespaceProduction DesignDocumentNamespace = iota
	DesignDocumentNamespaceDevelopment
)

// ViewOptions are the options of [Bucket.ViewQuery].
type ViewOptions struct {
	ScanConsistency ViewScanConsistency
	Skip            uint32
	Limit           uint32 // 0: none
	Order           ViewOrdering
	Reduce          bool
	Group           bool   // the rows are reduced by their keys; only with Reduce
	GroupLevel      uint32 // the rows are reduced by the first parts of their keys; only with Reduce; 0: not sent
	Key             any    // the keys are values that are encoded as JSON; nil: not sent
	Keys            []any
	StartKey        any
	EndKey          any
	InclusiveEnd    bool // rows with the end key belong to the result
	StartKeyDocID   string
	EndKeyDocID     string
	OnError         ViewErrorMode
	Debug           bool
	ParentSpan      RequestSpan

	// Raw has further parameters of the service's API. They win over the other options.
	Raw map[string]string

	Namespace DesignDocumentNamespace

	Timeout       time.Duration // until the last row was read, with all retries; 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's

	Context context.Context // its end ends the query; nil: it has no end

	// Internal: User is not supported.
	Internal struct {
		User string
	}
}

// ViewQuery reads a view. The result must be closed, or read to its end.
func (b *Bucket) ViewQuery(designDoc string, viewName string, opts *ViewOptions) (*ViewResult, error) {
	return b.cluster.http.view(b.name, designDoc, viewName, opts)
}

func (h *httpServices) view(bucket, design, view string, opts *ViewOptions) (*ViewResult, error) {
	if opts == nil {
		opts = new(ViewOptions)
	}
	refuse := func(err error) (*ViewResult, error) {
		return nil, &ViewError{InnerError: err, DesignDocumentName: design, ViewName: view}
	}
	path, err := designPath(bucket, design, opts.Namespace)
	if err == nil && view == "" {
		err = invalid("the name of the view is empty")
	}
	if err != nil {
		return refuse(err)
	}
	parameters, err := opts.parameters()
	if err != nil {
		return refuse(err)
	}
	op, err := h.begin("views", ServiceTypeViews, keyspace{bucket: bucket}, httpOptions{
		timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context,
	}, h.timeouts.ViewTimeout)
	if err != nil {
		return refuse(err)
	}
	op.attributes("db.name", bucket, "db.operation", design+"/"+view)
	fail := func(err error) error { return viewError(err, design, view, h.scheme) }
	rows, err := op.rows(func() (*services.Rows, error) {
		return h.client.Stream(op.ctx, &services.Request{
			Call: op.call, Service: clustermap.Views, Bucket: bucket, Method: http.MethodGet, Idempotency: retry.ReadOnly, WithRows: true,
			Path: path + "/_view/" + url.PathEscape(view) + "?" + parameters.Encode(),
		})
	}, fail)
	if err != nil {
		return nil, err
	}
	return &ViewResult{stream: rowStream{rows: rows, fail: fail}}, nil
}

// designPath returns the path of a design document.
func designPath(bucket, design string, namespace DesignDocumentNamespace) (string, error) {
	switch {
	case bucket == "":
		return "", invalid("the name of the bucket is empty")
	case design == "":
		return "", invalid("the name of the design document is empty")
	case namespace == DesignDocumentNamespaceDevelopment:
		design = developmentPrefix + design
	case namespace != DesignDocumentNamespaceProduction:
		return "", invalid("Namespace is %d: there is no such namespace", namespace)
	}
	return "/" + url.PathEscape(bucket) + "/_design/" + url.PathEscape(design), nil
}

const developmentPrefix = "dev_"

// parameters returns the parameters of the request's URL.
func (o *ViewOptions) parameters() (url.Values, error) {
	if o.Internal.User != "" {
		return nil, invalid("Internal.User is not supported")
	}
	p := url.Values{"reduce": {strconv.FormatBool(o.Reduce)}}
	if err := o.choices(p); err != nil {
		return nil, err
	}
	level := o.GroupLevel
	if !o.Reduce {
		level = 0
	}
	for name, n := range map[string]uint32{"skip": o.Skip, "limit": o.Limit, "group_level": level} {
		if n > 0 {
			p.Set(name, strconv.FormatUint(uint64(n), 10))
		}
	}
	for name, wanted := range map[string]bool{"group": o.Group && o.Reduce, "inclusive_end": o.InclusiveEnd, "debug": o.Debug} {
		if wanted {
			p.Set(name, "true")
		}
	}
	keys := map[string]any{"key": o.Key, "startkey": o.StartKey, "endkey": o.EndKey}
	if len(o.Keys) > 0 {
		keys["keys"] = o.Keys
	}
	for name, key := range keys {
		if key == nil {
			continue
		}
		b, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrEncodingFailure, name, err)
		}
		p.Set(name, string(b))
	}
	for name, id := range map[string]string{"startkey_docid": o.StartKeyDocID, "endkey_docid": o.EndKeyDocID} {
		if id != "" {
			p.Set(name, id)
		}
	}
	for name, value := range o.Raw {
		p.Set(name, value)
	}
	return p, nil
}

// choices adds the options that are one of several.
func (o *ViewOptions) choices(p url.Values) error {
	for _, choice := range []struct {
		field, name string
		value       uint
		names       []string
	}{
		{"ScanConsistency", "stale", uint(o.ScanConsistency), []string{"ok", "false", "update_after"}},
		{"Order", "descending", uint(o.Order), []string{"false", "true"}},
		{"OnError", "on_error", uint(o.OnError), []string{"continue", "stop"}},
	} {
		switch {
		case choice.value == 0:
		case choice.value > uint(len(choice.names)):
			return invalid("%s is %d: there is no such value", choice.field, choice.value)
		default:
			p.Set(choice.name, choice.names[choice.value-1])
		}
	}
	return nil
}

// viewError returns the error of a view.
func viewError(err error, design, view, scheme string) error {
	f := failureOf(err)
	e := &ViewError{
		InnerError: f, DesignDocumentName: design, ViewName: view, Endpoint: endpoint(scheme, f.Address), RetryReasons: f.retryReasons(),
		RetryAttempts: uint32(f.Retries), ErrorText: f.text(), HTTPStatusCode: f.status(),
	}
	var answer struct {
		Error  string `json:"error"`
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(f.text()), &answer) == nil && answer.Error != "" {
		e.Errors = []ViewErrorDesc{{SourceNode: "error", Message: answer.Error}, {SourceNode: "reason", Message: answer.Reason}}
	}
	return e
}
