package couchbase_test

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func ExampleBucketManager() {
	_, cluster, end := exampleCluster(couchbasetest.Nodes(2))
	defer end()
	manager := cluster.Buckets()
	settings := couchbase.BucketSettings{
		Name: "orders", RAMQuotaMB: 1100, NumReplicas: 1, FlushEnabled: true, MaxExpiry: time.Hour,
		BucketType:                        couchbase.CouchbaseBucketType,
		EvictionPolicy:                    couchbase.EvictionPolicyTypeFull,
		CompressionMode:                   couchbase.CompressionModeActive,
		MinimumDurabilityLevel:            couchbase.DurabilityLevelMajority,
		StorageBackend:                    couchbase.StorageBackendMagma,
		HistoryRetentionCollectionDefault: couchbase.HistoryRetentionCollectionDefaultDisabled,
	}
	ok(manager.CreateBucket(couchbase.CreateBucketSettings{
		BucketSettings: settings, ConflictResolutionType: couchbase.ConflictResolutionTypeTimestamp,
	}, &couchbase.CreateBucketOptions{Timeout: time.Minute}))
	ok(manager.FlushBucket("orders", &couchbase.FlushBucketOptions{Timeout: time.Minute}))
	settings.FlushEnabled = false
	ok(manager.UpdateBucket(settings, &couchbase.UpdateBucketOptions{Timeout: time.Minute}))

	one, err := manager.GetBucket("orders", &couchbase.GetBucketOptions{Timeout: time.Minute})
	ok(err)
	all, err := manager.GetAllBuckets(&couchbase.GetAllBucketsOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(one.Name, one.MaxExpiry, one.FlushEnabled, len(all))
	ok(manager.DropBucket("orders", &couchbase.DropBucketOptions{Timeout: time.Minute}))
	// Output:
	// orders 1h0m0s false 2
}

// An error of the cluster manager has its reply.
func ExampleHTTPError() {
	_, cluster, end := exampleCluster()
	defer end()
	_, err := cluster.Buckets().GetBucket("none", nil)
	var failed *couchbase.HTTPError
	if errors.As(err, &failed) {
		fmt.Println(failed.StatusCode == http.StatusNotFound)
	}
	fmt.Println(errors.Is(err, couchbase.ErrBucketNotFound))
	// Output:
	// true
	// true
}

func ExampleCollectionManagerV2() {
	_, cluster, end := exampleCluster()
	defer end()
	bucket := cluster.Bucket("default")
	manager := bucket.CollectionsV2()
	ok(manager.CreateScope("shop", &couchbase.CreateScopeOptions{Timeout: time.Minute}))
	ok(manager.CreateCollection("shop", "orders", &couchbase.CreateCollectionSettings{MaxExpiry: time.Hour},
		&couchbase.CreateCollectionOptions{Timeout: time.Minute}))
	ok(insert(bucket.Scope("shop").Collection("orders"), "order-1", "open"))
	ok(manager.UpdateCollection("shop", "orders", couchbase.UpdateCollectionSettings{MaxExpiry: 2 * time.Hour},
		&couchbase.UpdateCollectionOptions{Timeout: time.Minute}))

	scopes, err := manager.GetAllScopes(&couchbase.GetAllScopesOptions{Timeout: time.Minute})
	ok(err)
	for _, scope := range scopes {
		for _, collection := range scope.Collections {
			if scope.Name == "shop" {
				fmt.Println(collection.ScopeName, collection.Name, collection.MaxExpiry)
			}
		}
	}
	ok(manager.DropCollection("shop", "orders", &couchbase.DropCollectionOptions{Timeout: time.Minute}))
	ok(manager.DropScope("shop", &couchbase.DropScopeOptions{Timeout: time.Minute}))
	// Output:
	// shop orders 2h0m0s
}

// The first manager of collections takes a CollectionSpec in place of names.
func ExampleCollectionManager() {
	_, cluster, end := exampleCluster()
	defer end()
	manager := cluster.Bucket("default").Collections()
	ok(manager.CreateScope("shop", nil))
	spec := couchbase.CollectionSpec{ScopeName: "shop", Name: "orders", MaxExpiry: time.Hour}
	ok(manager.CreateCollection(spec, nil))
	err := manager.CreateCollection(spec, nil)
	fmt.Println("exists:", errors.Is(err, couchbase.ErrCollectionExists))
	// Output:
	// exists: true
}

// A bucket with the storage backend magma can keep old versions of a collection's documents.
func ExampleCollectionHistorySettings() {
	_, cluster, end := exampleCluster()
	defer end()
	bucket := couchbase.BucketSettings{Name: "orders", RAMQuotaMB: 1100, StorageBackend: couchbase.StorageBackendMagma}
	ok(cluster.Buckets().CreateBucket(couchbase.CreateBucketSettings{BucketSettings: bucket}, nil))
	manager := cluster.Bucket("orders").CollectionsV2()
	history := &couchbase.CollectionHistorySettings{Enabled: true}
	ok(manager.CreateCollection("_default", "open", &couchbase.CreateCollectionSettings{History: history}, nil))
	scopes, err := manager.GetAllScopes(nil)
	ok(err)
	for _, collection := range scopes[0].Collections {
		if collection.Name == "open" {
			fmt.Println(collection.History.Enabled)
		}
	}
	// Output:
	// true
}
