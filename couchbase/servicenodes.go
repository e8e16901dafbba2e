package couchbase

import (
	"errors"
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
)

// serviceNodes says which nodes offer the HTTP services, by the cluster's newest map.
type serviceNodes struct{ cluster *cluster.Cluster }

var _ services.Nodes = serviceNodes{}

// Offering returns the nodes that offer a service. Views are served by the nodes that hold the bucket's documents.
func (n serviceNodes) Offering(service clustermap.Service, bucket string) services.Offer {
	s := n.cluster.Snapshot()
	offer := services.Offer{Newer: n.cluster.Newer(s)} // a newer map of the bucket is one of the cluster too
	if s == nil {
		offer.NotOpen = notOpen(n.cluster.Err())
	}
	if bucket != "" {
		b := n.cluster.Bucket(bucket)
		if s = b.Snapshot(); s == nil {
			var err error
			err, offer.Newer = b.Opening()
			offer.NotOpen = notOpen(err)
		}
		offer.Never = s != nil && service == clustermap.Views && !s.Map.BucketCan("couchapi")
	}
	offer.Addresses = addressesOf(s, service, n.cluster.TLS())
	return offer
}

// notOpen describes why there is no map.
func notOpen(err error) *services.NotOpen {
	n := &services.NotOpen{Err: err}
	switch {
	case errors.Is(err, cluster.ErrClosed):
		n.Kind = services.KindClosed
	case kv.IsLoginFailure(err):
		n.Kind = services.KindAuthenticationFailure
	case errors.Is(err, kv.ErrNoBucket), errors.Is(err, kv.ErrNoAccess):
		n.Kind = services.KindBucketNotFound
	}
	return n
}

func addressesOf(s *cluster.Snapshot, service clustermap.Service, secure bool) []string {
	if s == nil {
		return nil
	}
	var all []string
	for _, i := range s.Map.Offering(s.Network, service, secure) {
		node := &s.Map.Nodes[i]
		if service == clustermap.Views && !node.HasData {
			continue
		}
		if address, ok := node.Address(s.Network, service, secure); ok {
			all = append(all, address)
		}
	}
	return slices.Clip(all)
}

// Can reports whether a service of the cluster has a capability.
func (n serviceNodes) Can(service, capability string) bool {
	s := n.cluster.Snapshot()
	return s != nil && s.Map.ClusterCan(service, capability)
}
