package httpapi

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"
)

func TestABucketIsMadeAsTheFormSays(t *testing.T) {
	for _, c := range []struct {
		name, form string
		want       Bucket
	}{
		{
			"defaults", "name=b&ramQuotaMB=100",
			Bucket{
				Name: "b", Type: "membase", Storage: "couchstore", VBuckets: 1024, RAMQuota: 100 << 20, Replicas: 1,
				Eviction: "valueOnly", Compression: "passive", MinimumDurability: "none", ConflictResolution: "seqno",
			},
		},
		{
			"all settings of couchstore, and the new name of the quota",
			"name=b&ramQuota=101&bucketType=couchbase&replicaNumber=3&replicaIndex=1&flushEnabled=1&evictionPolicy=fullEviction" +
				"&compressionMode=active&durabilityMinLevel=persistToMajority&maxTTL=10&conflictResolutionType=lww&storageBackend=couchstore",
			Bucket{
				Name: "b", Type: "membase", Storage: "couchstore", VBuckets: 1024, RAMQuota: 101 << 20, Replicas: 3, ReplicaIndex: true, FlushEnabled: true,
				Eviction: "fullEviction", Compression: "active", MinimumDurability: "persistToMajority", MaxExpiry: 10 * time.Second, ConflictResolution: "lww",
			},
		},
		{
			"magma keeps history", "name=b&ramQuotaMB=1024&storageBackend=magma&numVBuckets=128&historyRetentionBytes=2147483648&historyRetentionSeconds=13000",
			Bucket{
				Name: "b", Type: "membase", Storage: "magma", VBuckets: 128, RAMQuota: 1024 << 20, Replicas: 1, Eviction: "valueOnly", Compression: "passive",
				MinimumDurability: "none", ConflictResolution: "seqno", HistoryDefault: true, HistoryTime: 13000 * time.Second, HistoryBytes: 1 << 31,
			},
		},
		{
			"ephemeral", "name=b&ramQuotaMB=100&bucketType=ephemeral&durabilityMinLevel=majority&evictionPolicy=nruEviction&replicaNumber=0",
			Bucket{
				Name: "b", Type: "ephemeral", VBuckets: 1024, RAMQuota: 100 << 20,
				Eviction: "nruEviction", Compression: "passive", MinimumDurability: "majority", ConflictResolution: "seqno",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			w := send(New(f), mgmt, "POST", bucketsPath, c.form)
			expect(t, w, 202)
			if w.Body.Len() > 0 {
				t.Errorf("body %q", w.Body)
			}
			got := f.buckets[0]
			got.UUID = ""
			if got != c.want {
				t.Errorf("made\n%+v, want\n%+v", got, c.want)
			}
		})
	}
}

// The usual settings of a bucket by the server's version, as Couchbase's docs of the REST API and ns_server have them.
func TestWhatABucketIsDependsOnTheVersion(t *testing.T) {
	for _, c := range []struct {
		sentence, form    string
		release           Release
		storage, eviction string
		vbuckets          int
		replicaIndex      bool // the description has it
	}{
		{"8.0 keeps a bucket by magma", "", Release{8, 0}, "magma", "fullEviction", 128, false},
		{"also if the form says so", "&storageBackend=magma", Release{8, 0}, "magma", "fullEviction", 128, false},
		{"1,024 vbuckets may be asked for", "&ramQuota=1024&numVBuckets=1024", Release{8, 0}, "magma", "fullEviction", 1024, false},
		{"another eviction too", "&evictionPolicy=valueOnly", Release{8, 0}, "magma", "valueOnly", 128, false},
		{"couchstore is as it was", "&storageBackend=couchstore", Release{8, 0}, "couchstore", "valueOnly", 1024, true},
		{"an ephemeral bucket is as it was", "&bucketType=ephemeral&storageBackend=magma", Release{8, 0}, "", "noEviction", 1024, false},
		{"7.6 keeps a bucket by couchstore", "", Release{7, 6}, "couchstore", "valueOnly", 1024, true},
		{"magma of 7.6 has 1,024 vbuckets", "&storageBackend=magma", Release{7, 6}, "magma", "valueOnly", 1024, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			f := newFake()
			f.identity.Release = c.release
			s := New(f)
			expect(t, send(s, mgmt, "POST", bucketsPath, "name=b&ramQuotaMB=100"+c.form), 202)
			if b := f.buckets[0]; b.Storage != c.storage || b.Eviction != c.eviction || b.VBuckets != c.vbuckets || b.HistoryDefault != (c.storage == "magma") {
				t.Errorf("the bucket is %+v", b)
			}
			w := send(s, mgmt, "GET", bucketsPath+"/b", "")
			if _, has := jsonObject(t, w.Body.String())["replicaIndex"]; has != c.replicaIndex {
				t.Errorf("the description has replicaIndex: %t", has)
			}
		})
	}
}

func TestAWrongBucketFormNamesTheField(t *testing.T) {
	for _, c := range []struct{ name, form, field, text string }{
		{"exists", "name=default&ramQuotaMB=1", "name", "Bucket with given name already exists"},
		{"no name", "ramQuotaMB=100", "name", "Bucket name needs to be specified"},
		{"bad name", "name=a+b&ramQuotaMB=100", "name", "characters in range"},
		{"dot", "name=.a&ramQuotaMB=100", "name", "dot"},
		{"memcached", "name=b&ramQuotaMB=100&bucketType=memcached", "bucketType", "no longer supported"},
		{"unknown type", "name=b&ramQuotaMB=100&bucketType=x", "bucketType", "invalid"},
		{"no quota", "name=b", "ramQuota", "must be specified"},
		{"small quota", "name=b&ramQuotaMB=99", "ramQuota", "less than 100"},
		{"small quota by its new name, which holds", "name=b&ramQuota=99&ramQuotaMB=100", "ramQuota", "less than 100"},
		{"quota is text", "name=b&ramQuotaMB=x", "ramQuota", "positive integer"},
		{"replicas", "name=b&ramQuotaMB=100&replicaNumber=4", "replicaNumber", "0 to 3"},
		{"replica index", "name=b&ramQuotaMB=100&replicaIndex=2", "replicaIndex", "1 or 0"},
		{"eviction of membase", "name=b&ramQuotaMB=100&evictionPolicy=noEviction", "evictionPolicy", "valueOnly"},
		{"eviction of ephemeral", "name=b&ramQuotaMB=100&bucketType=ephemeral&evictionPolicy=valueOnly", "evictionPolicy", "nruEviction"},
		{"durability of ephemeral", "name=b&ramQuotaMB=100&bucketType=ephemeral&durabilityMinLevel=persistToMajority", "durabilityMinLevel", "majority"},
		{"compression", "name=b&ramQuotaMB=100&compressionMode=x", "compressionMode", "passive"},
		{"expiry", "name=b&ramQuotaMB=100&maxTTL=2147483648", "maxTTL", "2147483647"},
		{"history needs magma", "name=b&ramQuotaMB=100&historyRetentionSeconds=1", "historyRetentionSeconds", "magma"},
		{"history size", "name=b&ramQuotaMB=100&storageBackend=magma&historyRetentionBytes=1", "historyRetentionBytes", "2147483648"},
		{"vbuckets", "name=b&ramQuotaMB=100&numVBuckets=64", "numVBuckets", "1024"},
		{"storage", "name=b&ramQuotaMB=100&storageBackend=x", "storageBackend", "magma"},
		{"custom conflict resolution", "name=b&ramQuotaMB=100&conflictResolutionType=custom", "conflictResolutionType", "developer preview"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			w := send(New(f), mgmt, "POST", bucketsPath, c.form)
			expect(t, w, 400, c.text)
			var reply struct{ Errors map[string]string }
			if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || reply.Errors[c.field] == "" || len(reply.Errors) != 1 {
				t.Errorf("errors %v (%v), want one of %s", reply.Errors, err, c.field)
			}
			if len(f.buckets) != 1 {
				t.Errorf("%d buckets", len(f.buckets))
			}
		})
	}
}

func TestABucketIsDescribed(t *testing.T) {
	f := newFake()
	s := New(f)
	expect(t, send(s, mgmt, "POST", bucketsPath, "name=m&ramQuotaMB=100&storageBackend=magma&maxTTL=7&flushEnabled=1"), 202)
	w := send(s, mgmt, "GET", bucketsPath+"/m", "")
	expect(
		t, w, 200, `"rawRAM":104857600`, `"ram":209715200`, `"flush":"/pools/default/buckets/m/controller/doFlush"`, `"storageBackend":"magma"`,
		`"maxTTL":7`, `"bucketCapabilities":["collections"]`, `"historyRetentionCollectionDefault":true`, `"collectionsManifestUid":"a"`,
	)
	expect(t, send(s, mgmt, "GET", bucketsPath, ""), 200, `"name":"default"`, `"name":"m"`)
	expect(t, send(s, mgmt, "GET", bucketsPath+"/none", ""), 404, "Requested resource not found.")
}

func TestABucketIsChangedFlushedAndDropped(t *testing.T) {
	f := newFake()
	s := New(f)
	expect(t, send(s, mgmt, "POST", bucketsPath+"/default/controller/doFlush", ""), 400, `{"_":"Flush is disabled for the bucket"}`)
	for _, method := range []string{"POST", "PUT"} {
		expect(t, send(s, mgmt, method, bucketsPath+"/default", "flushEnabled=1&ramQuotaMB=300&name=default&bucketType=membase"), 200)
	}
	if b := f.buckets[0]; !b.FlushEnabled || b.RAMQuota != 300<<20 || b.Compression != "passive" {
		t.Errorf("after the change: %+v", b)
	}
	expect(t, send(s, mgmt, "POST", bucketsPath+"/default", "ramQuota=400"), 200)
	if b := f.buckets[0]; b.RAMQuota != 400<<20 {
		t.Errorf("after the change by the new name: %+v", b)
	}
	expect(t, send(s, mgmt, "POST", bucketsPath+"/default", "conflictResolutionType=lww"), 400, "conflictResolutionType cannot be changed")
	expect(t, send(s, mgmt, "POST", bucketsPath+"/default/controller/doFlush", ""), 200)
	if len(f.flushed) != 1 {
		t.Errorf("flushed %q", f.flushed)
	}
	expect(t, send(s, mgmt, "DELETE", bucketsPath+"/default", ""), 200)
	for _, c := range [][2]string{{"DELETE", ""}, {"POST", ""}, {"POST", "/controller/doFlush"}, {"GET", "/scopes"}, {"POST", "/scopes"}, {"GET", "/ddocs"}} {
		expect(t, send(s, mgmt, c[0], bucketsPath+"/default"+c[1], "name=x"), 404, "Requested resource not found.")
	}
}

func TestAFormThatOnlyValidatesMakesNoBucket(t *testing.T) {
	f := newFake()
	expect(t, send(New(f), mgmt, "POST", bucketsPath+"?just_validate=1", "name=b&ramQuotaMB=100"), 200, `"errors":{}`)
	if len(f.buckets) != 1 {
		t.Errorf("%d buckets", len(f.buckets))
	}
}

// FuzzBucketForm checks that every bucket that a form makes can be read back from its description.
func FuzzBucketForm(f *testing.F) {
	f.Add("name=b&ramQuotaMB=100&bucketType=ephemeral&evictionPolicy=nruEviction")
	f.Add("name=b&ramQuotaMB=1024&storageBackend=magma&historyRetentionBytes=2147483648&maxTTL=1")
	f.Add("name=%00&ramQuotaMB=-1&%zz")
	f.Fuzz(func(t *testing.T, text string) {
		cluster := newFake()
		s := New(cluster)
		w := send(s, mgmt, "POST", bucketsPath, text)
		if w.Code != 202 {
			if w.Code != 400 && w.Code != 200 || len(cluster.buckets) != 1 {
				t.Fatalf("status %d, %d buckets", w.Code, len(cluster.buckets))
			}
			return
		}
		form, _ := url.ParseQuery(text)
		made := send(s, mgmt, "GET", bucketsPath+"/"+url.PathEscape(form.Get("name")), "")
		if made.Code != 200 || jsonObject(t, made.Body.String())["name"] != form.Get("name") {
			t.Fatalf("status %d: %s", made.Code, made.Body)
		}
	})
}
