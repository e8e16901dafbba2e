package couchbase_test

import (
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// exampleCluster runs a cluster in memory and connects a client to it. The function that it returns ends both.
func exampleCluster(options ...couchbasetest.Option) (*couchbasetest.Cluster, *couchbase.Cluster, func()) {
	return exampleClusterWith(couchbase.ClusterOptions{}, options...)
}

// exampleClusterWith is exampleCluster with options of the client. Its timeouts are long, since examples may run on a busy machine.
func exampleClusterWith(o couchbase.ClusterOptions, options ...couchbasetest.Option) (*couchbasetest.Cluster, *couchbase.Cluster, func()) {
	servers, err := couchbasetest.Run(append([]couchbasetest.Option{couchbasetest.InMemory(), couchbasetest.VBuckets(16)}, options...)...)
	ok(err)
	o.Username, o.Password = servers.Username(), servers.Password()
	o.TimeoutsConfig.KVTimeout = time.Minute
	cluster, err := couchbase.Open(servers.ConnectionString(), couchbase.Config{Dial: servers.Dialer().DialContext}, o)
	ok(err)
	return servers, cluster, func() {
		ok(cluster.Close(nil))
		ok(servers.Close())
	}
}

// exampleCollection is exampleCluster for examples that need only a collection.
func exampleCollection(options ...couchbasetest.Option) (*couchbase.Collection, func()) {
	_, cluster, end := exampleCluster(options...)
	return cluster.Bucket("default").DefaultCollection(), end
}

// answerOf makes a service of the cluster answer each request so.
func answerOf(servers *couchbasetest.Cluster, service couchbasetest.Service, a couchbasetest.HTTPAnswer) {
	servers.HTTP().Script(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{service}}, 0, couchbasetest.HTTPScript{Answer: a})
}

// bodyAt makes a path of the HTTP services answer with a body.
func bodyAt(servers *couchbasetest.Cluster, path, body string) {
	servers.HTTP().Inject(couchbasetest.HTTPWhen{Path: path}, 0, 0, couchbasetest.HTTPFault{Status: 200, Body: body})
}
