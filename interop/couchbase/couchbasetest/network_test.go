package couchbasetest

import (
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestGocbUsesTheOtherNetwork(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2), couchbasetest.External())
	client, err := gocb.Connect(c.ExternalConnectionString(), gocb.ClusterOptions{Username: c.Username(), Password: c.Password()})
	must(t, "Connect", err, nil)
	defer client.Close(nil)
	bucket := client.Bucket("default")
	must(t, "WaitUntilReady", bucket.WaitUntilReady(5*time.Second, nil), nil)
	_, err = bucket.DefaultCollection().Upsert("a", 1, nil)
	must(t, "Upsert", err, nil)
}

func TestGocbFindsABucketThatIsCreatedLater(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Buckets())
	client, err := gocb.Connect(c.ConnectionString(), gocb.ClusterOptions{Username: c.Username(), Password: c.Password()})
	must(t, "Connect", err, nil)
	defer client.Close(nil)
	must(t, "WaitUntilReady", client.WaitUntilReady(5*time.Second, nil), nil)
	must(t, "CreateBucket", client.Buckets().CreateBucket(gocb.CreateBucketSettings{
		BucketSettings: gocb.BucketSettings{Name: "late", RAMQuotaMB: 100, BucketType: gocb.CouchbaseBucketType},
	}, nil), nil)
	bucket := client.Bucket("late")
	must(t, "WaitUntilReady", bucket.WaitUntilReady(5*time.Second, nil), nil)
	_, err = bucket.DefaultCollection().Upsert("a", 1, nil)
	must(t, "Upsert", err, nil)
	must(t, "DropBucket", client.Buckets().DropBucket("late", nil), nil)
}
