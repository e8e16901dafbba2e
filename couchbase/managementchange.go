package couchbase

import (
	"net/http"
	"net/url"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
)

// managementChange is a request that changes buckets, scopes or collections.
type managementChange struct {
	name    string // of the operation
	in      keyspace
	method  string
	path    string
	form    url.Values // nil: there is no body
	options httpOptions
}

// change sends a change. It is not idempotent: it is repeated only if the cluster manager certainly did nothing.
func (h *httpServices) change(c managementChange) error {
	op, err := h.begin(c.name, ServiceTypeManagement, c.in, c.options, h.timeouts.ManagementTimeout)
	if err != nil {
		return err
	}
	op.attributes(attributeOperation, c.method+" "+c.path, attributeBucket, c.in.bucket)
	r := services.Request{Call: op.call, Service: clustermap.Management, Method: c.method, Path: c.path, Header: make(http.Header)}
	if c.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = services.Fixed([]byte(c.form.Encode()))
	}
	return op.run(func() error {
		if _, err := h.client.Do(op.ctx, &r); err != nil {
			return managementError(err, op.call.ID, h.scheme)
		}
		return nil
	})
}

// bucketsPath is the path of all buckets.
const bucketsPath = "/pools/default/buckets"

// bucketPath returns the path of a bucket.
func bucketPath(name string) string { return bucketsPath + "/" + url.PathEscape(name) }

// notEmpty returns an error if a name is empty.
func notEmpty(field, name string) error {
	if name == "" {
		return invalid("%s must not be empty", field)
	}
	return nil
}
