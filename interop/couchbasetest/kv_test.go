package couchbasetest

import (
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbase/couchbasetest"
)

// connect returns the bucket "default" of a cluster, by gocb.
func connect(t *testing.T, c *couchbasetest.Cluster) *gocb.Bucket {
	t.Helper()
	client, err := gocb.Connect(c.ConnectionString(), gocb.ClusterOptions{Username: c.Username(), Password: c.Password()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(nil) })
	b := client.Bucket("default")
	if err := b.WaitUntilReady(5*time.Second, &gocb.WaitUntilReadyOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue}}); err != nil {
		t.Fatal(err)
	}
	return b
}

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

func TestGocbStoresAndReads(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(3))
	docs := connect(t, c).DefaultCollection()
	want := person{"Ada", 36}
	stored, err := docs.Upsert("a", want, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token := stored.MutationToken(); token == nil || token.SequenceNumber() != 1 {
		t.Errorf("the mutation token is %v, want the sequence number 1", token)
	}
	found, err := docs.Get("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got person
	if err := found.Content(&got); err != nil || got != want || found.Cas() != stored.Cas() {
		t.Errorf("found %v %v with CAS %v, want %v with CAS %v", got, err, found.Cas(), want, stored.Cas())
	}
}
