package services

import "github.com/holdfast-db/holdfast/internal/couchbase/clustermap"

// Nodes is the view that a client has of the cluster. It must be safe for concurrent use and must not block.
type Nodes interface {
	// Offering returns the nodes that offer a service by the newest map: that of a bucket, or that of the cluster if bucket is "".
	Offering(service clustermap.Service, bucket string) Offer
	// Can reports whether a service of the cluster has a capability, by the service's name in the map ("n1ql").
	Can(service, capability string) bool
}

// Offer is what one map says of a service.
type Offer struct {
	// Addresses are the nodes' hosts and ports of the service. The slice is not changed.
	Addresses []string
	// Newer is closed when a newer map is there. Nil: there will be none.
	Newer <-chan struct{}
	// Never means that a bucket of this type cannot have the service, so nobody needs to wait for it.
	Never bool
	// NotOpen says why there is no map yet. Nil: there is one.
	NotOpen *NotOpen
}

// NotOpen is why there is no map yet.
type NotOpen struct {
	// Kind is the meaning of Err. A client whose credentials are refused (KindAuthenticationFailure) or that is closed (KindClosed)
	// says so at once; everything else is waited for.
	Kind ErrorKind
	Err  error // nil: nothing failed yet
}
