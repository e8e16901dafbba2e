package couchbase_test

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestAPanicInAReadOfReplicasReachesItsCaller(t *testing.T) {
	o := &couchbase.GetAllReplicaOptions{RetryStrategy: askedStrategy(func(couchbase.RetryReason) { panic("mine") })}
	for name, read := range map[string]func(c *couchbase.Collection){
		"any": func(c *couchbase.Collection) { _, _ = c.GetAnyReplica("a", (*couchbase.GetAnyReplicaOptions)(o)) },
		"all": func(c *couchbase.Collection) {
			must[*couchbase.GetAllReplicasResult](t)(c.GetAllReplicas("a", o)).Next()
		},
	} {
		withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
			server.Use(couchbasetest.AnyOpcode, couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault {
				return couchbasetest.Fault{Status: memd.StatusTemporaryFailure}
			}))
			defer func() {
				if v := recover(); v != "mine" {
					t.Errorf("%s: recovered %v", name, v)
				}
			}()
			read(client.Bucket("default").DefaultCollection())
			t.Errorf("%s: it returned", name)
		}, couchbasetest.Nodes(2))
	}
}

// RFC 0076: a bucket without the capability "subdoc.ReplicaRead" has no look-ups on replicas. Reads of whole documents need none.
func TestLookUpsOnReplicasNeedTheirCapability(t *testing.T) {
	specs := []couchbase.LookupInSpec{couchbase.GetSpec("", nil)}
	for version, can := range map[string]bool{"7.2": false, "7.6": true} {
		withCollection(t, func(t *testing.T, c *couchbase.Collection) {
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			for name, err := range map[string]error{
				"any": second(c.LookupInAnyReplica("a", specs, nil)), "all": second(c.LookupInAllReplicas("a", specs, nil)),
			} {
				if can != (err == nil) || err != nil && !errors.Is(err, couchbase.ErrFeatureNotAvailable) {
					t.Errorf("version %s, %s: %v", version, name, err)
				}
			}
			must[*couchbase.GetReplicaResult](t)(c.GetAnyReplica("a", nil))
		}, couchbasetest.Nodes(2), couchbasetest.Version(version))
	}
}
