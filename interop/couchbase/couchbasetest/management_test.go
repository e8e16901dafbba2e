package couchbasetest

import (
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestGocbManagesBuckets(t *testing.T) {
	cluster := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	client, _ := connectCluster(t, cluster)
	buckets := client.Buckets()
	for _, want := range []gocb.BucketSettings{
		{
			Name: "all", RAMQuotaMB: 101, NumReplicas: 1, BucketType: gocb.CouchbaseBucketType, FlushEnabled: true, MaxExpiry: 10 * time.Second,
			CompressionMode: gocb.CompressionModeActive, ReplicaIndexDisabled: true, EvictionPolicy: gocb.EvictionPolicyTypeFull,
			MinimumDurabilityLevel: gocb.DurabilityLevelMajorityAndPersistOnMaster, StorageBackend: gocb.StorageBackendCouchstore,
		},
		{
			Name: "ephemeral", RAMQuotaMB: 100, BucketType: gocb.EphemeralBucketType, EvictionPolicy: gocb.EvictionPolicyTypeNotRecentlyUsed,
			ReplicaIndexDisabled: true, CompressionMode: gocb.CompressionModePassive, MinimumDurabilityLevel: gocb.DurabilityLevelNone,
		},
		{
			Name: "magma", RAMQuotaMB: 1024, BucketType: gocb.CouchbaseBucketType, StorageBackend: gocb.StorageBackendMagma,
			EvictionPolicy: gocb.EvictionPolicyTypeValueOnly, CompressionMode: gocb.CompressionModeOff, MinimumDurabilityLevel: gocb.DurabilityLevelNone,
			HistoryRetentionCollectionDefault: gocb.HistoryRetentionCollectionDefaultEnabled,
			HistoryRetentionBytes:             2147483648, HistoryRetentionDuration: 13000 * time.Second,
			ReplicaIndexDisabled: true, // it has no views
		},
	} {
		t.Run(want.Name, func(t *testing.T) {
			must(t, "CreateBucket", buckets.CreateBucket(gocb.CreateBucketSettings{BucketSettings: want}, nil), nil)
			must(t, "CreateBucket again", buckets.CreateBucket(gocb.CreateBucketSettings{BucketSettings: want}, nil), gocb.ErrBucketExists)
			got, err := buckets.GetBucket(want.Name, nil)
			must(t, "GetBucket", err, nil)
			want.NumVBuckets, want.MaxTTL = map[bool]uint16{false: 1024, true: 128}[want.StorageBackend == gocb.StorageBackendMagma], want.MaxExpiry //nolint:staticcheck // gocb fills the deprecated field too
			if *got != want {
				t.Errorf("the bucket is\n%+v, want\n%+v", *got, want)
			}
			must(t, "UpdateBucket", buckets.UpdateBucket(*got, nil), nil)
			flushed := map[bool]error{true: nil, false: gocb.ErrBucketNotFlushable}[want.FlushEnabled]
			must(t, "FlushBucket", buckets.FlushBucket(want.Name, nil), flushed)
			must(t, "DropBucket", buckets.DropBucket(want.Name, nil), nil)
			must(t, "DropBucket again", buckets.DropBucket(want.Name, nil), gocb.ErrBucketNotFound)
			must(t, "FlushBucket of none", buckets.FlushBucket(want.Name, nil), gocb.ErrBucketNotFound)
		})
	}
	all, err := buckets.GetAllBuckets(nil)
	must(t, "GetAllBuckets", err, nil)
	if _, found := all["default"]; len(all) != 1 || !found {
		t.Errorf("all buckets: %v", all)
	}
	must(t, "a small quota", buckets.CreateBucket(gocb.CreateBucketSettings{
		BucketSettings: gocb.BucketSettings{Name: "small", RAMQuotaMB: 1, BucketType: gocb.CouchbaseBucketType},
	}, nil), gocb.ErrInvalidArgument)
}

func TestGocbManagesCollections(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	_, bucket := connectCluster(t, cluster)
	m := bucket.CollectionsV2()
	must(t, "CreateScope", m.CreateScope("s", nil), nil)
	must(t, "CreateScope again", m.CreateScope("s", nil), gocb.ErrScopeExists)
	must(t, "CreateCollection", m.CreateCollection("s", "c", &gocb.CreateCollectionSettings{MaxExpiry: 5 * time.Second}, nil), nil)
	must(t, "CreateCollection again", m.CreateCollection("s", "c", nil, nil), gocb.ErrCollectionExists)
	must(t, "CreateCollection nowhere", m.CreateCollection("none", "c", nil, nil), gocb.ErrScopeNotFound)
	must(t, "UpdateCollection", m.UpdateCollection("s", "c", gocb.UpdateCollectionSettings{MaxExpiry: -time.Second}, nil), nil)
	scopes, err := m.GetAllScopes(nil)
	must(t, "GetAllScopes", err, nil)
	if len(scopes) != 2 || len(scopes[1].Collections) != 1 || scopes[1].Collections[0].MaxExpiry != -time.Second {
		t.Errorf("scopes %+v", scopes)
	}
	_, err = bucket.Scope("s").Collection("c").Upsert("k", 1, nil)
	must(t, "Upsert", err, nil)
	must(t, "DropCollection of none", m.DropCollection("s", "none", nil), gocb.ErrCollectionNotFound)
	must(t, "DropCollection", m.DropCollection("s", "c", nil), nil)
	must(t, "DropScope", m.DropScope("s", nil), nil)
	must(t, "DropScope again", m.DropScope("s", nil), gocb.ErrScopeNotFound)
	cluster.HTTP().Inject(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Management}}, 1, 0, couchbasetest.HTTPFault{
		Status: 429, Body: "Limit(s) exceeded [num_concurrent_requests]",
	})
	must(t, "over a limit", m.CreateScope("t", nil), gocb.ErrRateLimitedFailure)
}

func TestGocbReadsUsers(t *testing.T) {
	client, _ := connectCluster(t, couchbasetest.RunT(t))
	users := client.Users()
	all, err := users.GetAllUsers(nil)
	must(t, "GetAllUsers", err, nil)
	if len(all) != 1 || all[0].Username != "Administrator" || len(all[0].Roles) != 1 || all[0].Roles[0].Name != "admin" {
		t.Errorf("users %+v", all)
	}
	roles, err := users.GetRoles(nil)
	must(t, "GetRoles", err, nil)
	if len(roles) == 0 {
		t.Error("there are no roles")
	}
	_, err = users.GetUser("nobody", nil)
	must(t, "GetUser", err, gocb.ErrUserNotFound)
	_, err = users.GetGroup("none", nil)
	must(t, "GetGroup", err, gocb.ErrGroupNotFound)
}

// Views are left out: gocb 2.11.1 refuses its own endpoint of the views service before it sends anything.
func TestGocbPingsTheServices(t *testing.T) {
	_, bucket := connectCluster(t, couchbasetest.RunT(t, couchbasetest.Nodes(2)))
	services := []gocb.ServiceType{
		gocb.ServiceTypeKeyValue, gocb.ServiceTypeManagement, gocb.ServiceTypeQuery, gocb.ServiceTypeSearch, gocb.ServiceTypeAnalytics,
	}
	report, err := bucket.Ping(&gocb.PingOptions{ServiceTypes: services})
	must(t, "Ping", err, nil)
	for _, s := range services {
		if n := len(report.Services[s]); n != 2 {
			t.Errorf("service %v has %d endpoints", s, n)
		}
		for _, e := range report.Services[s] {
			if e.State != gocb.PingStateOk {
				t.Errorf("service %v: %+v", s, e)
			}
		}
	}
}
