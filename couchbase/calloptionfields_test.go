package couchbase_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// The fields that the options of operations may have. TestCallsFollowTheirOptions is about the common ones; every other one has a
// test, which stands beside it.
const (
	common      = "Timeout RetryStrategy ParentSpan Context"
	onDocument  = common + " Internal"                                   // TestCallsThatAreRefusedBeforeTheNetworkIsUsed
	durableOnes = " DurabilityLevel PersistTo ReplicateTo"               // TestReplicas, TestDurabilityIsObserved
	stored      = onDocument + durableOnes + " Expiry Transcoder"        // TestExpiriesAreSetReadAndKept, TestTranscodersOfClusterAndOperation
	replicaRead = onDocument + " ReadPreference"                         // TestAPreferredServerGroup
	counted     = onDocument + durableOnes + " Expiry Initial Delta Cas" // TestCountersAndBytes
)

var fieldsOfOptions = map[reflect.Type]string{
	reflect.TypeFor[couchbase.GetOptions]():                onDocument + " Transcoder WithExpiry Project", // TestProjections
	reflect.TypeFor[couchbase.ExistsOptions]():             onDocument,
	reflect.TypeFor[couchbase.GetAndLockOptions]():         onDocument + " Transcoder",
	reflect.TypeFor[couchbase.GetAndTouchOptions]():        onDocument + " Transcoder",
	reflect.TypeFor[couchbase.UnlockOptions]():             onDocument,
	reflect.TypeFor[couchbase.TouchOptions]():              onDocument,
	reflect.TypeFor[couchbase.InsertOptions]():             stored,
	reflect.TypeFor[couchbase.UpsertOptions]():             stored + " PreserveExpiry",
	reflect.TypeFor[couchbase.ReplaceOptions]():            stored + " PreserveExpiry Cas",
	reflect.TypeFor[couchbase.RemoveOptions]():             onDocument + durableOnes + " Cas",
	reflect.TypeFor[couchbase.AppendOptions]():             onDocument + durableOnes + " Cas",
	reflect.TypeFor[couchbase.PrependOptions]():            onDocument + durableOnes + " Cas",
	reflect.TypeFor[couchbase.IncrementOptions]():          counted,
	reflect.TypeFor[couchbase.DecrementOptions]():          counted,
	reflect.TypeFor[couchbase.LookupInOptions]():           onDocument, // TestDocumentFlags
	reflect.TypeFor[couchbase.MutateInOptions]():           onDocument + durableOnes + " Expiry Cas StoreSemantic PreserveExpiry",
	reflect.TypeFor[couchbase.GetAnyReplicaOptions]():      replicaRead + " Transcoder",
	reflect.TypeFor[couchbase.GetAllReplicaOptions]():      replicaRead + " Transcoder",
	reflect.TypeFor[couchbase.LookupInAnyReplicaOptions](): replicaRead,
	reflect.TypeFor[couchbase.LookupInAllReplicaOptions](): replicaRead,
	reflect.TypeFor[couchbase.BulkOpOptions]():             common + " Transcoder",
	reflect.TypeFor[couchbase.PingOptions]():               "ServiceTypes ReportID Timeout ParentSpan Context",
	reflect.TypeFor[couchbase.DiagnosticsOptions]():        "ReportID",
	reflect.TypeFor[couchbase.WaitUntilReadyOptions]():     "DesiredState ServiceTypes Context RetryStrategy",
	reflect.TypeFor[couchbase.CreateBucketOptions]():       common,
	reflect.TypeFor[couchbase.UpdateBucketOptions]():       common,
	reflect.TypeFor[couchbase.DropBucketOptions]():         common,
	reflect.TypeFor[couchbase.FlushBucketOptions]():        common,
	reflect.TypeFor[couchbase.GetBucketOptions]():          common,
	reflect.TypeFor[couchbase.GetAllBucketsOptions]():      common,
	reflect.TypeFor[couchbase.CreateScopeOptions]():        common,
	reflect.TypeFor[couchbase.DropScopeOptions]():          common,
	reflect.TypeFor[couchbase.GetAllScopesOptions]():       common,
	reflect.TypeFor[couchbase.CreateCollectionOptions]():   common,
	reflect.TypeFor[couchbase.UpdateCollectionOptions]():   common,
	reflect.TypeFor[couchbase.DropCollectionOptions]():     common,
	reflect.TypeFor[couchbase.GetNodesMetadataOptions]():   common,
}

// A field that a newer gocb adds is in no struct until somebody decides what becomes of it.
func TestEveryFieldOfOptionsIsInTheTable(t *testing.T) {
	for typ, names := range fieldsOfOptions {
		known := strings.Fields(names)
		for i := range typ.NumField() {
			if !slices.Contains(known, typ.Field(i).Name) {
				t.Errorf("%s.%s is not in the table", typ.Name(), typ.Field(i).Name)
			}
		}
		if len(known) != typ.NumField() {
			t.Errorf("%s has %d fields, the table %d", typ.Name(), typ.NumField(), len(known))
		}
	}
}

func TestTranscodersOfClusterAndOperation(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{Transcoder: couchbase.NewLegacyTranscoder()})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		json := couchbase.NewJSONTranscoder()
		must[*couchbase.MutationResult](t)(c.Upsert("bytes", []byte("b"), nil))
		must[*couchbase.MutationResult](t)(c.Upsert("text", "x", &couchbase.UpsertOptions{Transcoder: json}))
		for _, read := range []func() (*couchbase.GetResult, error){
			func() (*couchbase.GetResult, error) { return c.Get("bytes", nil) },
			func() (*couchbase.GetResult, error) { return c.GetAndTouch("bytes", time.Hour, nil) },
			func() (*couchbase.GetResult, error) { return c.GetAndLock("bytes", time.Second, nil) },
		} {
			if v := content(t, must[*couchbase.GetResult](t)(read())); !bytes.Equal(v.([]byte), []byte("b")) {
				t.Errorf("%v", v)
			}
		}
		var v any
		if err := must[*couchbase.GetResult](t)(c.Get("bytes", &couchbase.GetOptions{Transcoder: json})).Content(&v); !errors.Is(err, couchbase.ErrDecodingFailure) {
			t.Errorf("%v", err)
		}
		if d, ok := server.Document("default", "text"); !ok || string(d.Value) != `"x"` {
			t.Errorf("%s", d.Value)
		}
	})
}

func TestDocumentFlags(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		create := &couchbase.MutateInOptions{StoreSemantic: couchbase.StoreSemanticsInsert}
		create.Internal.DocFlags = couchbase.SubdocDocFlagCreateAsDeleted | couchbase.SubdocDocFlagAccessDeleted
		attribute := couchbase.UpsertSpec("x", 1, &couchbase.UpsertSpecOptions{IsXattr: true})
		must[*couchbase.MutateInResult](t)(c.MutateIn("a", []couchbase.MutateInSpec{attribute}, create))
		specs := []couchbase.LookupInSpec{couchbase.GetSpec("x", &couchbase.GetSpecOptions{IsXattr: true})}
		if _, err := c.LookupIn("a", specs, nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("a deleted document: %v", err)
		}
		deleted := &couchbase.LookupInOptions{}
		deleted.Internal.DocFlags = couchbase.SubdocDocFlagAccessDeleted
		var n int
		if err := must[*couchbase.LookupInResult](t)(c.LookupIn("a", specs, deleted)).ContentAt(0, &n); err != nil || n != 1 {
			t.Errorf("%d %v", n, err)
		}
	})
}

// A document is sent compressed if the options say so.
func TestCompressionIsConfigured(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		for _, test := range []struct {
			name   string
			config couchbase.CompressionConfig
			length int
			want   bool
		}{
			{"by default", couchbase.CompressionConfig{}, 100, true},
			{"a short document", couchbase.CompressionConfig{}, 20, false},
			{"a document below the limit", couchbase.CompressionConfig{MinSize: 200}, 100, false},
			{"a document above the limit", couchbase.CompressionConfig{MinSize: 200}, 300, true},
			{"a document that does not become small enough", couchbase.CompressionConfig{MinRatio: 0.01}, 100, false},
			{"disabled", couchbase.CompressionConfig{Disabled: true}, 100, false},
		} {
			client := connect(t, server, couchbase.ClusterOptions{CompressionConfig: test.config})
			c := client.Bucket("default").DefaultCollection()
			compressed := false
			server.Use(memd.OpSet, couchbasetest.Decide(func(r *couchbasetest.Request) couchbasetest.Fault {
				compressed = len(r.Value) < test.length // as it was sent
				return couchbasetest.Fault{}
			}))
			must[*couchbase.MutationResult](t)(c.Upsert("a", strings.Repeat("x", test.length), nil))
			if compressed != test.want {
				t.Errorf("%s: compressed %v", test.name, compressed)
			}
			if v := content(t, must[*couchbase.GetResult](t)(c.Get("a", nil))); len(v.(string)) != test.length {
				t.Errorf("%s: %v", test.name, v)
			}
			if err := client.Close(nil); err != nil {
				t.Error(err)
			}
		}
	})
}
