package couchbasetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// connect returns the bucket "default" of a cluster, by gocb.
func connect(t *testing.T, c *couchbasetest.Cluster) *gocb.Bucket {
	t.Helper()
	return connectBy(t, c, c.ConnectionString())
}

// connectBy is connect with a connection string of the test's own.
func connectBy(t *testing.T, c *couchbasetest.Cluster, text string) *gocb.Bucket {
	t.Helper()
	client, err := gocb.Connect(text, gocb.ClusterOptions{Username: c.Username(), Password: c.Password()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(nil) })
	b := client.Bucket("default")
	if err := b.WaitUntilReady(10*time.Second, &gocb.WaitUntilReadyOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue}}); err != nil {
		t.Fatal(err)
	}
	return b
}

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

// must ends the test if an error is not the wanted one, nil for none.
func must(t *testing.T, doing string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", doing, err, want)
	}
}

func TestGocbStoresAndReads(t *testing.T) {
	for _, version := range []string{"5.0", "6.0", "6.6", "7.2", "8.0"} {
		t.Run(version, func(t *testing.T) {
			c := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.Version(version))
			docs := connect(t, c).DefaultCollection()
			want := person{"Ada", 36}
			for i := range 50 {
				key := fmt.Sprint("k", i)
				stored, err := docs.Upsert(key, want, nil)
				must(t, "Upsert", err, nil)
				if token := stored.MutationToken(); token == nil || token.SequenceNumber() == 0 {
					t.Errorf("the mutation token is %v, want one with a sequence number", token)
				}
				found, err := docs.Get(key, nil)
				must(t, "Get", err, nil)
				var got person
				if err := found.Content(&got); err != nil || got != want || found.Cas() != stored.Cas() {
					t.Errorf("found %v %v with CAS %v, want %v with CAS %v", got, err, found.Cas(), want, stored.Cas())
				}
			}
		})
	}
}

func TestGocbWritesByEveryCommand(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	docs := connect(t, c).DefaultCollection()
	inserted, err := docs.Insert("a", person{"Ada", 36}, nil)
	must(t, "Insert", err, nil)
	_, err = docs.Insert("a", 1, nil)
	must(t, "Insert again", err, gocb.ErrDocumentExists)
	_, err = docs.Replace("none", 1, nil)
	must(t, "Replace of nothing", err, gocb.ErrDocumentNotFound)
	_, err = docs.Replace("a", 1, &gocb.ReplaceOptions{Cas: inserted.Cas() + 1})
	must(t, "Replace with another CAS", err, gocb.ErrCasMismatch)
	_, err = docs.Replace("a", person{"Ada", 37}, &gocb.ReplaceOptions{Cas: inserted.Cas()})
	must(t, "Replace", err, nil)
	there, err := docs.Exists("a", nil)
	must(t, "Exists", err, nil)
	if !there.Exists() {
		t.Error("the document does not exist")
	}
	_, err = docs.Remove("a", nil)
	must(t, "Remove", err, nil)
	_, err = docs.Remove("a", nil)
	must(t, "Remove again", err, gocb.ErrDocumentNotFound)
	there, err = docs.Exists("a", nil)
	must(t, "Exists", err, nil)
	if there.Exists() {
		t.Error("the deleted document exists")
	}

	text := gocb.NewRawStringTranscoder()
	_, err = docs.Upsert("s", "middle", &gocb.UpsertOptions{Transcoder: text})
	must(t, "Upsert", err, nil)
	_, err = docs.Binary().Append("s", []byte(" end"), nil)
	must(t, "Append", err, nil)
	_, err = docs.Binary().Prepend("s", []byte("begin "), nil)
	must(t, "Prepend", err, nil)
	found, err := docs.Get("s", &gocb.GetOptions{Transcoder: text})
	must(t, "Get", err, nil)
	var s string
	if err := found.Content(&s); err != nil || s != "begin middle end" {
		t.Errorf("found %q, %v", s, err)
	}

	n, err := docs.Binary().Increment("n", &gocb.IncrementOptions{Initial: 5, Delta: 2})
	must(t, "Increment", err, nil)
	n2, err := docs.Binary().Increment("n", &gocb.IncrementOptions{Initial: 5, Delta: 2})
	must(t, "Increment", err, nil)
	n3, err := docs.Binary().Decrement("n", &gocb.DecrementOptions{Initial: -1, Delta: 100})
	must(t, "Decrement", err, nil)
	if n.Content() != 5 || n2.Content() != 7 || n3.Content() != 0 {
		t.Errorf("the counter was %d, %d, %d; want 5, 7, 0", n.Content(), n2.Content(), n3.Content())
	}
	_, err = docs.Binary().Increment("none", &gocb.IncrementOptions{Initial: -1, Delta: 2})
	must(t, "Increment of nothing", err, gocb.ErrDocumentNotFound)
}

func TestGocbLocksAndTouches(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	docs := connect(t, c).DefaultCollection()
	_, err := docs.Upsert("a", 1, nil)
	must(t, "Upsert", err, nil)
	locked, err := docs.GetAndLock("a", 10*time.Second, nil)
	must(t, "GetAndLock", err, nil)
	_, err = docs.Upsert("a", 2, &gocb.UpsertOptions{Timeout: 100 * time.Millisecond})
	must(t, "Upsert of a locked document", err, gocb.ErrTimeout)
	must(t, "Unlock with another CAS", docs.Unlock("a", locked.Cas()+1, nil), gocb.ErrCasMismatch)
	must(t, "Unlock", docs.Unlock("a", locked.Cas(), nil), nil)
	must(t, "Unlock again", docs.Unlock("a", locked.Cas(), nil), gocb.ErrDocumentNotLocked)

	touched, err := docs.GetAndTouch("a", time.Hour, nil)
	must(t, "GetAndTouch", err, nil)
	found, err := docs.Get("a", &gocb.GetOptions{WithExpiry: true})
	must(t, "Get", err, nil)
	if left := time.Until(found.ExpiryTime()); left < 59*time.Minute || left > 61*time.Minute || found.Cas() != touched.Cas() {
		t.Errorf("the document expires in %v, want an hour", left)
	}
	_, err = docs.Upsert("a", 3, &gocb.UpsertOptions{PreserveExpiry: true})
	must(t, "Upsert", err, nil)
	if doc, _ := c.Document("default", "a"); doc.Expiry.IsZero() {
		t.Error("the expiry was not preserved")
	}
	_, err = docs.Touch("a", 0, nil)
	must(t, "Touch", err, nil)
	if doc, _ := c.Document("default", "a"); !doc.Expiry.IsZero() {
		t.Errorf("the document expires at %v", doc.Expiry)
	}
}

func TestGocbReadsReplicasAndObservesThem(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(3))
	docs := connect(t, c).DefaultCollection()
	_, err := docs.Upsert("a", 1, &gocb.UpsertOptions{PersistTo: 1, ReplicateTo: 1})
	must(t, "Upsert that is observed", err, nil)
	found, err := docs.GetAnyReplica("a", nil)
	must(t, "GetAnyReplica", err, nil)
	var n int
	if err := found.Content(&n); err != nil || n != 1 {
		t.Errorf("found %d, %v", n, err)
	}
	all, err := docs.GetAllReplicas("a", nil)
	must(t, "GetAllReplicas", err, nil)
	replicas := 0
	for r := all.Next(); r != nil; r = all.Next() {
		if r.IsReplica() {
			replicas++
		}
	}
	if replicas != 1 {
		t.Errorf("%d replicas answered, want 1", replicas)
	}
}

func TestGocbWritesDurably(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.ReplicationLag(5*time.Millisecond), couchbasetest.PersistenceLag(5*time.Millisecond))
	docs := connect(t, c).DefaultCollection()
	for level := gocb.DurabilityLevelMajority; level <= gocb.DurabilityLevelPersistToMajority; level++ {
		_, err := docs.Upsert("a", int(level), &gocb.UpsertOptions{DurabilityLevel: level})
		must(t, fmt.Sprint("Upsert with level ", level), err, nil)
		if doc, ok := c.DocumentAt(c.Owners("default", "a")[0], "default", "a"); !ok || string(doc.Value) != fmt.Sprint(level) {
			t.Errorf("the document is %s", doc.Value)
		}
	}
	must(t, "Failover", c.Failover(c.Owners("default", "a")[1]), nil)
	_, err := docs.Upsert("a", 9, &gocb.UpsertOptions{DurabilityLevel: gocb.DurabilityLevelMajority})
	must(t, "Upsert without a replica", err, gocb.ErrDurabilityImpossible)
}

func TestGocbUsesCollections(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	bucket := connect(t, c)
	manage := bucket.CollectionsV2()
	must(t, "CreateScope", manage.CreateScope("s", nil), nil)
	must(t, "CreateScope again", manage.CreateScope("s", nil), gocb.ErrScopeExists)
	must(t, "CreateCollection", manage.CreateCollection("s", "c", nil, nil), nil)
	docs := bucket.Scope("s").Collection("c")
	_, err := docs.Upsert("a", 1, nil)
	must(t, "Upsert", err, nil)
	if _, err := bucket.DefaultCollection().Get("a", nil); !errors.Is(err, gocb.ErrDocumentNotFound) {
		t.Errorf("the document is in the default collection, too: %v", err)
	}
	must(t, "DropCollection", manage.DropCollection("s", "c", nil), nil)
	must(t, "CreateCollection", manage.CreateCollection("s", "c", nil, nil), nil)
	_, err = docs.Get("a", nil)
	must(t, "Get from the new collection", err, gocb.ErrDocumentNotFound)
	_, err = docs.Upsert("a", 2, nil)
	must(t, "Upsert into the new collection", err, nil)
}
