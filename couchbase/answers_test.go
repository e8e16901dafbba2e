package couchbase_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// What stands beside rows that failed is not all, so it is the error of the rows.
func TestTheMetaDataOfRowsThatFailed(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Body: []byte(`{"requestID": "r", "results": [1, 2, no JSON`)})
		result := must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
		for result.Next() {
		}
		meta, err := result.MetaData()
		if meta != nil || err == nil || result.Err() == nil || err.Error() != result.Err().Error() {
			t.Errorf("%+v, %v; the rows ended with %v", meta, err, result.Err())
		}
	})
}

// The timeout of a view is that of its rows too, unlike those of the other services.
func TestTheTimeoutOfAViewCoversItsRows(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		row := map[string]any{"id": "a", "key": 1, "value": 2}
		answering(server, couchbasetest.Views, couchbasetest.HTTPAnswer{Rows: []any{row, row, row, row}, RowDelay: 400 * time.Millisecond})
		began := time.Now()
		view := must[*couchbase.ViewResult](t)(client.Bucket("default").ViewQuery("d", "v", &couchbase.ViewOptions{Timeout: time.Second}))
		rows := 0
		for view.Next() {
			rows++
		}
		if took := time.Since(began); !errors.Is(view.Err(), couchbase.ErrTimeout) || took != time.Second || rows != 3 {
			t.Errorf("the view had %d rows after %v: %v", rows, took, view.Err())
		}
	})
}

// Only an append and a prepend say by "not stored" that there is no document.
func TestNotStoredIsNotFoundForAppendsAlone(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		server.Use(couchbasetest.AnyOpcode, couchbasetest.While(func(r *couchbasetest.Request) bool { return r.Opcode == memd.OpSet || r.Opcode == memd.OpAppend }, couchbasetest.Fault{Status: memd.StatusNotStored}))
		if _, err := c.Upsert("a", 1, nil); err == nil || errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("an upsert: %v", err)
		}
		if _, err := c.Binary().Append("a", []byte("b"), nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("an append: %v", err)
		}
	})
}

// gocb has two sentinels for the same thing.
func TestADocumentThatIsNotJSON(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		must[*couchbase.MutationResult](t)(c.Upsert("a", "text", &couchbase.UpsertOptions{Transcoder: couchbase.NewRawStringTranscoder()}))
		_, change := c.MutateIn("a", []couchbase.MutateInSpec{couchbase.UpsertSpec("p", 1, nil)}, nil)
		looked, err := c.LookupIn("a", []couchbase.LookupInSpec{couchbase.GetSpec("p", nil)}, nil)
		if err == nil {
			err = looked.ContentAt(0, new(any))
		}
		for name, err := range map[string]error{"MutateIn": change, "LookupIn": err} {
			if !errors.Is(err, couchbase.ErrValueNotJSON) || !errors.Is(err, couchbase.ErrDocumentNotJSON) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if errors.Is(couchbase.ErrDocumentNotJSON, couchbase.ErrValueNotJSON) || errors.Is(couchbase.ErrValueNotJSON, couchbase.ErrPathNotFound) {
			t.Error("the sentinels match too much")
		}
	})
}

// Copies without a node will not have the write, however long one waits.
func TestReplicateToWithTooFewLiveReplicas(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{ReplicateTo: 1}))
		replica := server.Owners("default", "a")[1]
		if err := server.Failover(replica); err != nil {
			t.Fatal(err)
		}
		server.Kill(replica)
		// The first write may be sent before the newer map is there. Then it is applied, and the error must not say that it is impossible.
		for i := range 2 {
			began := time.Now()
			_, err := c.Upsert("a", i+2, &couchbase.UpsertOptions{ReplicateTo: 1})
			doc, _ := server.Document("default", "a")
			applied := string(doc.Value) == strconv.Itoa(i+2)
			if took := time.Since(began); errors.Is(err, couchbase.ErrTimeout) || took > 5*time.Second || applied != errors.Is(err, couchbase.ErrDurabilityAmbiguous) || i > 0 && !errors.Is(err, couchbase.ErrDurabilityImpossible) {
				t.Errorf("%v after %v, applied: %t", err, took, applied)
			}
		}
	}, couchbasetest.Nodes(2))
}

// A logger that is set after the cluster was made gets its lines, and none after it was taken away.
func TestALoggerThatIsSetLater(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		_, _ = c.Get("none", nil)
		log := &levelLog{}
		couchbase.SetLogger(log)
		defer couchbase.SetLogger(nil)
		_, _ = c.Get("none", nil)
		if n := len(log.take()); n != 1 {
			t.Errorf("%d lines, want 1", n)
		}
		couchbase.SetLogger(nil)
		_, _ = c.Get("none", nil)
		if n := len(log.take()); n != 0 {
			t.Errorf("%d lines without a logger", n)
		}
	})
}
