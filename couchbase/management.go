package couchbase

import (
	"encoding/json"
	"net/http"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
	"github.com/holdfast-db/holdfast/retry"
)

// managementGet is a GET that asks how something is set up.
type managementGet struct {
	name    string      // of the operation
	service ServiceType // the one that it is about
	in      keyspace
	asked   clustermap.Service // the one that answers
	bucket  string             // whose nodes answer; "" for all
	path    string
	options httpOptions
}

// get sends a GET and decodes its answer.
func (h *httpServices) get(g managementGet, answer any) error {
	op, err := h.begin(g.name, g.service, g.in, g.options, h.timeouts.ManagementTimeout)
	if err != nil {
		return err
	}
	op.attributes("db.operation", http.MethodGet+" "+g.path, "db.name", g.in.bucket)
	return op.run(func() error {
		reply, err := h.client.Do(op.ctx, &services.Request{
			Call: op.call, Service: g.asked, Bucket: g.bucket, Method: http.MethodGet, Path: g.path, Idempotency: retry.ReadOnly,
		})
		if err != nil {
			return managementError(err, op.call.ID, h.scheme)
		}
		return json.Unmarshal(reply.Body, answer)
	})
}

// managementError returns the error of a request to the cluster manager, or to the management of a service.
func managementError(err error, id, scheme string) error {
	f := failureOf(err)
	return &HTTPError{
		InnerError: f, UniqueID: id, Endpoint: endpoint(scheme, f.Address), RetryReasons: f.retryReasons(), RetryAttempts: uint32(f.Retries),
		ErrorText: f.text(), StatusCode: uint32(f.status()),
	}
}
