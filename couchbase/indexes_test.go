package couchbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// answeringPath makes a path of the HTTP services answer with this body.
func answeringPath(server *couchbasetest.Cluster, path string, status int, body string) {
	server.HTTP().Inject(couchbasetest.HTTPWhen{Path: path}, 0, 0, couchbasetest.HTTPFault{Status: status, Body: body})
}

func TestQueryIndexesAreRead(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{
			json.RawMessage(`{"name":"i","is_primary":true,"using":"gsi","state":"online","keyspace_id":"c","namespace_id":"default","index_key":["k"],"condition":"x","partition":"p","scope_id":"s","bucket_id":"b"}`),
			json.RawMessage(`{"name":"j","using":"gsi","state":"deferred","keyspace_id":"b","namespace_id":"default"}`),
		}})
		want := []couchbase.QueryIndex{
			{
				Name: "i", IsPrimary: true, Type: couchbase.QueryIndexTypeGsi, State: "online", Keyspace: "c", Namespace: "default", IndexKey: []string{"k"},
				Condition: "x", Partition: "p", CollectionName: "c", ScopeName: "s", BucketName: "b",
			},
			{Name: "j", Type: couchbase.QueryIndexTypeGsi, State: "deferred", Keyspace: "b", Namespace: "default", BucketName: "b"},
		}
		if got, err := client.QueryIndexes().GetAllIndexes("b", nil); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		c := client.Bucket("default").DefaultCollection().QueryIndexes()
		if got, err := c.GetAllIndexes(nil); err != nil || len(got) != 2 {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := c.GetAllIndexes(&couchbase.GetAllQueryIndexesOptions{ScopeName: "s"}); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
		if _, err := client.QueryIndexes().GetAllIndexes("b", &couchbase.GetAllQueryIndexesOptions{ScopeName: "s", CollectionName: "c"}); err != nil {
			t.Error(err)
		}
		_, err := client.QueryIndexes().GetAllIndexes("b", &couchbase.GetAllQueryIndexesOptions{CollectionName: "c"})
		if !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
	})
}

func TestIndexesAreWatchedUntilTheyAreOnline(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		begin := time.Now()
		server.HTTP().Script(on(couchbasetest.Query), 0, couchbasetest.HTTPScript{Func: func(*couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
			state := "building"
			if time.Since(begin) > 3*time.Second {
				state = "online"
			}
			return couchbasetest.HTTPAnswer{Rows: []any{
				map[string]any{"name": "i", "state": state, "keyspace_id": "b"}, map[string]any{"name": "#primary", "state": state, "keyspace_id": "b"},
			}}
		}})
		watch := client.QueryIndexes().WatchIndexes
		if err := watch("b", []string{"i"}, time.Second, nil); !errors.Is(err, couchbase.ErrUnambiguousTimeout) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := watch("b", []string{"j"}, time.Second, nil); !errors.Is(err, couchbase.ErrIndexNotFound) {
			t.Error(err)
		}
		if err := watch("b", []string{"i"}, 10*time.Second, &couchbase.WatchQueryIndexOptions{WatchPrimary: true}); err != nil || time.Since(begin) < 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := watch("b", nil, 0, nil); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
		if err := client.Bucket("default").DefaultCollection().QueryIndexes().WatchIndexes([]string{"i"}, time.Second, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestAnalyticsMetadataIsRead(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		m := client.AnalyticsIndexes()
		answering(server, couchbasetest.Analytics, couchbasetest.HTTPAnswer{Rows: []any{
			json.RawMessage(`{"DatasetName":"d","DataverseName":"v","LinkName":"l","BucketName":"b","IndexName":"i","IsPrimary":true}`),
		}})
		if got, err := m.GetAllDatasets(nil); err != nil || fmt.Sprint(got) != "[{d v l b}]" {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := m.GetAllIndexes(nil); err != nil || fmt.Sprint(got) != "[{i d v true}]" {
			t.Errorf("%+v, %v", got, err)
		}
		answeringPath(server, "/analytics/node/agg/stats/remaining", 200, `{"v":{"d":5}}`)
		if got, err := m.GetPendingMutations(nil); err != nil || got["v"]["d"] != 5 {
			t.Errorf("%+v, %v", got, err)
		}
		answeringPath(server, "/analytics/link*", 200, `[
			{"type":"s3","name":"n","dataverse":"v","accessKeyId":"k","region":"r","serviceEndpoint":"e"},
			{"type":"azureblob","name":"n","scope":"v","accountName":"a","blobEndpoint":"e","endpointSuffix":"s"},
			{"type":"couchbase","name":"n","scope":"a/b","activeHostname":"h","encryption":"half","username":"u"}]`)
		links, err := m.GetLinks(nil)
		if err != nil || len(links) != 3 {
			t.Fatalf("%v, %v", links, err)
		}
		for i, want := range []string{
			"&{Dataverse:v LinkName:n AccessKeyID:k SecretAccessKey: SessionToken: Region:r ServiceEndpoint:e}",
			"&{Dataverse:v LinkName:n ConnectionString: AccountName:a AccountKey: SharedAccessSignature: BlobEndpoint:e EndpointSuffix:s}",
			"&{Dataverse:a/b LinkName:n Hostname:h Encryption:{EncryptionLevel:half Certificate:[] ClientCertificate:[] ClientKey:[]} Username:u Password:}",
		} {
			if got := fmt.Sprintf("%+v", links[i]); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if links[i].Name() != "n" || links[i].DataverseName() == "" || links[i].LinkType() == "" || links[i].Validate() == nil {
				t.Errorf("%+v", links[i])
			}
		}
		if _, err := m.GetLinks(&couchbase.GetAnalyticsLinksOptions{Name: "n"}); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
		answeringPath(server, "/analytics/link*", 200, `[{"type":"new","name":"n"}]`)
		if _, err := m.GetLinks(nil); !errors.Is(err, couchbase.ErrDecodingFailure) {
			t.Error(err)
		}
	})
}

func TestLinksAreFormsAndAreChecked(t *testing.T) {
	s3 := &couchbase.S3ExternalAnalyticsLink{Dataverse: "v", LinkName: "n", AccessKeyID: "k", SecretAccessKey: "s", Region: "r"}
	azure := &couchbase.AzureBlobExternalAnalyticsLink{Dataverse: "v", LinkName: "n", AccountName: "a", AccountKey: "k"}
	remote := &couchbase.CouchbaseRemoteAnalyticsLink{Dataverse: "v", LinkName: "n", Hostname: "h", Username: "u", Password: "p"}
	for want, link := range map[string]couchbase.AnalyticsLink{
		"accessKeyId=k&dataverse=v&name=n&region=r&secretAccessKey=s&type=s3":                s3,
		"accountKey=k&accountName=a&dataverse=v&name=n&type=azureblob":                       azure,
		"dataverse=v&encryption=none&hostname=h&name=n&password=p&type=couchbase&username=u": remote,
	} {
		if form, err := link.FormEncode(); err != nil || string(form) != want || link.Validate() != nil {
			t.Errorf("%s, %v, %v", form, err, link.Validate())
		}
	}
	remote.Encryption.EncryptionLevel = couchbase.AnalyticsEncryptionLevelFull
	if err := remote.Validate(); !errors.Is(err, couchbase.ErrInvalidArgument) || !strings.Contains(err.Error(), "Certificate") {
		t.Error(err)
	}
	azure.AccountKey = ""
	if err := azure.Validate(); !errors.Is(err, couchbase.ErrInvalidArgument) {
		t.Error(err)
	}
	if couchbase.AnalyticsEncryptionLevel(9).String() != "" {
		t.Error("a level that does not exist has a name")
	}
}

func TestSearchIndexesAreRead(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		const index = `{"uuid":"u","name":"i","sourceName":"b","type":"fulltext-index","params":{"x":1},"sourceUUID":"su","sourceParams":{"y":2},"sourceType":"couchbase","planParams":{"z":3}}`
		scope := client.Bucket("default").Scope("s").SearchIndexes()
		answeringPath(server, "/api/index", 200, `{"indexDefs":{"indexDefs":{"i":`+index+`,"a":{"name":"a"}}}}`)
		answeringPath(server, "/api/bucket/default/scope/s/index", 200, `{"indexDefs":null}`)
		answeringPath(server, "/api/index/i", 200, `{"indexDef":`+index+`}`)
		answeringPath(server, "/api/bucket/default/scope/s/index/i", 400, `{"error":"rest_auth: preparePerms, err: index not found"}`)
		answeringPath(server, "/api/index/i/count", 200, `{"count":3}`)
		answeringPath(server, "/api/bucket/default/scope/s/index/i/count", 200, `{"count":4}`)
		all, err := client.SearchIndexes().GetAllIndexes(nil)
		if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].SourceUUID != "su" {
			t.Errorf("%+v, %v", all, err)
		}
		if all, err := scope.GetAllIndexes(nil); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		one, err := client.SearchIndexes().GetIndex("i", nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(one); err != nil || string(b) != index {
			t.Errorf("got  %s, %v\nwant %s", b, err, index)
		}
		var failed *couchbase.HTTPError
		if _, err := scope.GetIndex("i", nil); !errors.Is(err, couchbase.ErrIndexNotFound) || !errors.As(err, &failed) || failed.StatusCode != http.StatusBadRequest {
			t.Error(err)
		}
		if n, err := client.SearchIndexes().GetIndexedDocumentsCount("i", nil); err != nil || n != 3 {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := scope.GetIndexedDocumentsCount("i", nil); err != nil || n != 4 {
			t.Errorf("%d, %v", n, err)
		}
		for _, err := range []error{
			second(client.SearchIndexes().GetIndex("", nil)), second(scope.GetIndexedDocumentsCount("", nil)),
		} {
			if !errors.Is(err, couchbase.ErrInvalidArgument) {
				t.Error(err)
			}
		}
	})
}

func TestDesignDocumentsAreRead(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		m := client.Bucket("default").ViewIndexes()
		const views = `{"views":{"v":{"map":"m","reduce":"r"}}}`
		answeringPath(server, "/pools/default/buckets/default/ddocs", 200, `{"rows":[
			{"doc":{"meta":{"id":"_design/dev_x"},"json":`+views+`}},{"doc":{"meta":{"id":"_design/y"},"json":`+views+`}}]}`)
		answeringPath(server, "/default/_design/dev_x", 200, views)
		answeringPath(server, "/default/_design/z", 404, `{"error":"not_found","reason":"missing"}`)
		for namespace, want := range map[couchbase.DesignDocumentNamespace]string{
			couchbase.DesignDocumentNamespaceProduction: "[{y map[v:{m r}]}]", couchbase.DesignDocumentNamespaceDevelopment: "[{x map[v:{m r}]}]",
		} {
			if got, err := m.GetAllDesignDocuments(namespace, nil); err != nil || fmt.Sprint(got) != want {
				t.Errorf("%v, %v", got, err)
			}
		}
		if got, err := m.GetDesignDocument("x", couchbase.DesignDocumentNamespaceDevelopment, nil); err != nil || fmt.Sprint(*got) != "{x map[v:{m r}]}" {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := m.GetDesignDocument("z", couchbase.DesignDocumentNamespaceProduction, nil); !errors.Is(err, couchbase.ErrDesignDocumentNotFound) {
			t.Error(err)
		}
		if _, err := m.GetAllDesignDocuments(7, nil); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
	})
}

// TestATemporaryAnswerToAGetIsRetried: the cluster manager is away for a second.
func TestATemporaryAnswerToAGetIsRetried(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answeringPath(server, "/api/index/i/count", 200, `{"count":3}`)
		server.HTTP().Inject(couchbasetest.HTTPWhen{Path: "/api/index/i/count"}, 0, time.Second, couchbasetest.HTTPFault{Status: 503})
		begin := time.Now()
		if n, err := client.SearchIndexes().GetIndexedDocumentsCount("i", nil); err != nil || n != 3 || time.Since(begin) < time.Second {
			t.Errorf("%d, %v after %v", n, err, time.Since(begin))
		}
	})
}
