package couchbase_test

import (
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestBucketsAreManaged(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		manager := client.Buckets()
		settings := couchbase.BucketSettings{
			Name: "new", RAMQuotaMB: 1100, NumReplicas: 1, FlushEnabled: true, ReplicaIndexDisabled: true, MaxExpiry: time.Hour, MaxTTL: time.Hour,
			BucketType: couchbase.CouchbaseBucketType, EvictionPolicy: couchbase.EvictionPolicyTypeFull, CompressionMode: couchbase.CompressionModeActive,
			MinimumDurabilityLevel: couchbase.DurabilityLevelMajority, StorageBackend: couchbase.StorageBackendMagma, NumVBuckets: 128,
			HistoryRetentionCollectionDefault: couchbase.HistoryRetentionCollectionDefaultDisabled, HistoryRetentionBytes: 3 << 30,
			HistoryRetentionDuration: time.Minute,
		}
		create := couchbase.CreateBucketSettings{BucketSettings: settings, ConflictResolutionType: couchbase.ConflictResolutionTypeTimestamp}
		if err := manager.CreateBucket(create, nil); err != nil {
			t.Fatal(err)
		}
		if err := manager.CreateBucket(create, nil); !errors.Is(err, couchbase.ErrBucketExists) {
			t.Errorf("a second one: %v", err)
		}
		settings.NumVBuckets = 16             // the test server makes all buckets so
		settings.ReplicaIndexDisabled = false // a bucket of magma has no views, and so says nothing of their replicas
		if got := must[*couchbase.BucketSettings](t)(manager.GetBucket("new", nil)); !reflect.DeepEqual(*got, settings) {
			t.Errorf("%+v\n%+v", *got, settings)
		}
		all := must[map[string]couchbase.BucketSettings](t)(manager.GetAllBuckets(nil))
		if len(all) != 2 || !reflect.DeepEqual(all["new"], settings) {
			t.Errorf("%+v", all)
		}
		c := client.Bucket("new").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if err := manager.FlushBucket("new", nil); err != nil {
			t.Error(err)
		}
		if _, err := c.Get("a", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("after the flush: %v", err)
		}
		settings.FlushEnabled, settings.CompressionMode = false, couchbase.CompressionModeOff
		if err := manager.UpdateBucket(settings, nil); err != nil {
			t.Error(err)
		}
		if got := must[*couchbase.BucketSettings](t)(manager.GetBucket("new", nil)); got.FlushEnabled || got.CompressionMode != couchbase.CompressionModeOff {
			t.Errorf("%+v", got)
		}
		if err := manager.FlushBucket("new", nil); !errors.Is(err, couchbase.ErrBucketNotFlushable) {
			t.Errorf("a flush that is forbidden: %v", err)
		}
		if err := manager.DropBucket("new", nil); err != nil {
			t.Error(err)
		}
		var httpError *couchbase.HTTPError
		if _, err := manager.GetBucket("new", nil); !errors.Is(err, couchbase.ErrBucketNotFound) || !errors.As(err, &httpError) || httpError.StatusCode != http.StatusNotFound {
			t.Errorf("a bucket that is gone: %v", err)
		}
		for name, err := range map[string]error{
			"no name":                          manager.DropBucket("", nil),
			"memcached":                        manager.CreateBucket(couchbase.CreateBucketSettings{BucketSettings: couchbase.BucketSettings{Name: "m", BucketType: couchbase.MemcachedBucketType}}, nil),
			"two expiries":                     manager.UpdateBucket(couchbase.BucketSettings{Name: "m", MaxTTL: time.Second, MaxExpiry: time.Minute}, nil),
			"an expiry that would become none": manager.UpdateBucket(couchbase.BucketSettings{Name: "new", MaxExpiry: time.Second - 1}, nil),
			"a history that would become none": manager.CreateBucket(couchbase.CreateBucketSettings{BucketSettings: couchbase.BucketSettings{Name: "m", HistoryRetentionDuration: 1}}, nil),
			"no such level":                    manager.UpdateBucket(couchbase.BucketSettings{Name: "m", MinimumDurabilityLevel: 9}, nil),
		} {
			if !errors.Is(err, couchbase.ErrInvalidArgument) || errors.As(err, &httpError) { // it was not sent
				t.Errorf("%s: %v", name, err)
			}
		}
	}, couchbasetest.Nodes(2))
}

func TestScopesAndCollectionsAreManaged(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		b := client.Bucket("default")
		manager := b.CollectionsV2()
		if err := manager.CreateScope("s", nil); err != nil {
			t.Fatal(err)
		}
		if err := manager.CreateScope("s", nil); !errors.Is(err, couchbase.ErrScopeExists) {
			t.Errorf("a second scope: %v", err)
		}
		if err := manager.CreateCollection("s", "c", &couchbase.CreateCollectionSettings{MaxExpiry: time.Hour}, nil); err != nil {
			t.Fatal(err)
		}
		if err := manager.CreateCollection("s", "c", nil, nil); !errors.Is(err, couchbase.ErrCollectionExists) {
			t.Errorf("a second collection: %v", err)
		}
		if err := manager.CreateCollection("none", "c", nil, nil); !errors.Is(err, couchbase.ErrScopeNotFound) {
			t.Errorf("a scope that is not there: %v", err)
		}
		if err := b.Collections().CreateCollection(couchbase.CollectionSpec{Name: "d", ScopeName: "s", MaxExpiry: -time.Second}, nil); err != nil {
			t.Errorf("a collection without an expiry: %v", err)
		}
		c := b.Scope("s").Collection("c")
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if err := manager.UpdateCollection("s", "c", couchbase.UpdateCollectionSettings{MaxExpiry: 2 * time.Hour}, nil); err != nil {
			t.Error(err)
		}
		found := false
		for _, scope := range must[[]couchbase.ScopeSpec](t)(b.Collections().GetAllScopes(nil)) {
			for _, spec := range scope.Collections {
				if spec.Name == "c" {
					found = spec.ScopeName == "s" && spec.MaxExpiry == 2*time.Hour
				}
			}
		}
		if !found {
			t.Error("the collection is not listed with its expiry")
		}
		if err := manager.DropCollection("s", "c", nil); err != nil {
			t.Error(err)
		}
		if _, err := c.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond}); !errors.Is(err, couchbase.ErrCollectionNotFound) || !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("a collection that is gone: %v", err)
		}
		if err := manager.DropCollection("s", "c", nil); !errors.Is(err, couchbase.ErrCollectionNotFound) {
			t.Errorf("a second drop: %v", err)
		}
		if err := manager.DropScope("s", nil); err != nil {
			t.Error(err)
		}
		if err := manager.DropScope("s", nil); !errors.Is(err, couchbase.ErrScopeNotFound) {
			t.Errorf("a second drop of the scope: %v", err)
		}
		for name, err := range map[string]error{
			"no scope":           manager.CreateScope("", nil),
			"no collection":      manager.CreateCollection("s", "", nil, nil),
			"a negative expiry":  manager.CreateCollection("s", "x", &couchbase.CreateCollectionSettings{MaxExpiry: -time.Hour}, nil),
			"a negative timeout": manager.CreateScope("x", &couchbase.CreateScopeOptions{Timeout: -1}),
			"an empty bucket":    client.Bucket("").CollectionsV2().CreateScope("x", nil),
		} {
			if !errors.Is(err, couchbase.ErrInvalidArgument) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
