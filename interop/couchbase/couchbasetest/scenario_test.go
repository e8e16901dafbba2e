package couchbasetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// TestGocbGoesThroughTheLifeOfACluster uses every kind of operation before, during and after a rebalance and a failover.
func TestGocbGoesThroughTheLifeOfACluster(t *testing.T) {
	for _, version := range []string{"7.2", "8.0"} {
		t.Run(version, func(t *testing.T) {
			c := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.VBuckets(128), couchbasetest.Version(version),
				couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}))
			c.HTTP().Script(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Query}, Statement: "SELECT 1"}, 0,
				couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{Rows: []any{map[string]int{"n": 1}}}})
			// Maps change here faster than gocb can bear: it ignores a pushed map that comes while it fetches one, and a server that has
			// pushed a map does not send it again. So it polls.
			bucket := connectBy(t, c, c.ConnectionString()+"?enable_cluster_config_notifications=false")
			must(t, "CreateScope", bucket.CollectionsV2().CreateScope("s", nil), nil)
			must(t, "CreateCollection", bucket.CollectionsV2().CreateCollection("s", "c", nil, nil), nil)
			s := &scenario{t: t, bucket: bucket, docs: bucket.Scope("s").Collection("c")}

			s.everything("before")
			_, err := c.AddNode()
			must(t, "AddNode", err, nil)
			r, err := c.StartRebalance()
			must(t, "StartRebalance", err, nil)
			half := r.Left() / 2
			for i := 0; r.Move(); i++ {
				if i%8 == 0 {
					s.everything(fmt.Sprint("move", i))
				}
				if i == half {
					s.everything("half-way")
				}
			}
			r.Finish()
			s.everything("rebalanced")

			dead := s.keyOf(c, 0)
			c.Kill(0)
			s.touchDead(dead)
			failed := time.AfterFunc(50*time.Millisecond, func() {
				if err := c.Failover(0); err != nil {
					t.Error(err)
				}
			})
			defer failed.Stop()
			s.readDead(dead)
			s.everything("failover")
			s.everything("after")
			s.check()
		})
	}
}

// scenario uses a collection, and remembers what must be there at the end.
type scenario struct {
	t      *testing.T
	bucket *gocb.Bucket
	docs   *gocb.Collection
	stored []string
}

// readDead reads a key of a dead node until another node answers. gocb may lose what it is given while it learns of the failover: that waits
// then until its timeout, and a read may be repeated.
func (s *scenario) readDead(key string) {
	s.t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; {
		_, err := s.docs.Get(key, &gocb.GetOptions{Timeout: time.Second})
		if !errors.Is(err, gocb.ErrTimeout) || time.Now().After(limit) {
			if !errors.Is(err, gocb.ErrDocumentNotFound) && err != nil {
				s.t.Errorf("Get of a key of the dead node: %v", err)
			}
			return
		}
	}
}

// keyOf returns a key that a node owns.
func (s *scenario) keyOf(c *couchbasetest.Cluster, node int) string {
	s.t.Helper()
	for i := range 1000 {
		if key := fmt.Sprint("dead", i); c.Owners("default", key)[0] == node {
			return key
		}
	}
	s.t.Fatal("the node owns no key")
	return ""
}

// touchDead sends one write to a node that has just died, whatever becomes of it. gocb does not repeat a write that was in flight when its
// connection ended, so until gocb has noticed the end, the first one may fail.
func (s *scenario) touchDead(key string) {
	_, _ = s.docs.Upsert(key, 1, &gocb.UpsertOptions{Timeout: 20 * time.Millisecond})
}

// everything uses each kind of operation once.
func (s *scenario) everything(name string) {
	s.t.Helper()
	s.store(name)
	s.parts(name)
	s.locks(name)
	if name == "failover" {
		return // gocb sends queries to the dead node until the map says that it is, and does not send a POST again
	}
	rows := s.query(name)
	var row struct{ N int }
	s.must("One", name, rows.One(&row))
	if row.N != 1 {
		s.t.Errorf("%s: the row is %v", name, row)
	}
}

// query asks for one row. gocb's part for HTTP may get the map of a failover after the part for documents has it, and then still asks the dead
// node.
func (s *scenario) query(name string) *gocb.QueryResult {
	s.t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; {
		rows, err := s.bucket.Scope("s").Query("SELECT 1", &gocb.QueryOptions{Adhoc: name != "half-way"})
		if err == nil || name != "after" || time.Now().After(limit) {
			s.must("Query", name, err)
			return rows
		}
	}
}

func (s *scenario) must(doing, name string, err error) {
	s.t.Helper()
	must(s.t, name+": "+doing, err, nil)
}

func (s *scenario) store(name string) {
	s.t.Helper()
	key := "doc-" + name
	durable := gocb.DurabilityLevelMajority
	_, err := s.docs.Insert(key, person{name, 1}, &gocb.InsertOptions{DurabilityLevel: durable})
	s.must("Insert", name, err)
	_, err = s.docs.Upsert(key, person{name, 2}, &gocb.UpsertOptions{Expiry: time.Hour})
	s.must("Upsert", name, err)
	_, err = s.docs.Replace(key, person{name, 3}, &gocb.ReplaceOptions{DurabilityLevel: durable, PreserveExpiry: true})
	s.must("Replace", name, err)
	_, err = s.docs.Get(key, &gocb.GetOptions{WithExpiry: true})
	s.must("Get", name, err)
	there, err := s.docs.Exists(key, nil)
	s.must("Exists", name, err)
	if !there.Exists() {
		s.t.Errorf("%s: the document does not exist", name)
	}
	_, err = s.docs.Binary().Increment("n-"+name, &gocb.IncrementOptions{Initial: 10, Delta: 1, DurabilityLevel: durable})
	s.must("Increment", name, err)
	_, err = s.docs.Binary().Decrement("n-"+name, &gocb.DecrementOptions{Initial: 10, Delta: 1, DurabilityLevel: durable})
	s.must("Decrement", name, err)
	_, err = s.docs.Binary().Append("n-"+name, []byte("0"), nil)
	s.must("Append", name, err)
	_, err = s.docs.Binary().Prepend("n-"+name, []byte("1"), nil)
	s.must("Prepend", name, err)
	_, err = s.docs.Touch(key, 0, nil)
	s.must("Touch", name, err)
	_, err = s.docs.Upsert("gone-"+name, 1, nil)
	s.must("Upsert", name, err)
	_, err = s.docs.Remove("gone-"+name, &gocb.RemoveOptions{DurabilityLevel: durable})
	s.must("Remove", name, err)
	_, err = s.docs.GetAnyReplica(key, nil)
	s.must("GetAnyReplica", name, err)
	s.stored = append(s.stored, name)
}

func (s *scenario) parts(name string) {
	s.t.Helper()
	key := "doc-" + name
	_, err := s.docs.MutateIn(key, []gocb.MutateInSpec{
		gocb.UpsertSpec("meta.by", name, &gocb.UpsertSpecOptions{IsXattr: true, CreatePath: true}),
		gocb.UpsertSpec("seen", true, nil),
		gocb.IncrementSpec("age", 4, nil),
	}, &gocb.MutateInOptions{DurabilityLevel: gocb.DurabilityLevelMajority})
	s.must("MutateIn", name, err)
	found, err := s.docs.LookupIn(key, []gocb.LookupInSpec{
		gocb.GetSpec("meta.by", &gocb.GetSpecOptions{IsXattr: true}), gocb.GetSpec("age", nil), gocb.ExistsSpec("seen", nil),
	}, nil)
	s.must("LookupIn", name, err)
	var by string
	var age int
	s.must("ContentAt", name, found.ContentAt(0, &by))
	s.must("ContentAt", name, found.ContentAt(1, &age))
	if by != name || age != 7 || !found.Exists(2) {
		s.t.Errorf("%s: found %q, %d, %t; want %q, 7, true", name, by, age, found.Exists(2), name)
	}
}

func (s *scenario) locks(name string) {
	s.t.Helper()
	key := "doc-" + name
	locked, err := s.docs.GetAndLock(key, 5*time.Second, nil)
	s.must("GetAndLock", name, err)
	s.must("Unlock", name, s.docs.Unlock(key, locked.Cas(), nil))
	_, err = s.docs.GetAndTouch(key, 0, nil)
	s.must("GetAndTouch", name, err)
}

// check reads all that was stored.
func (s *scenario) check() {
	s.t.Helper()
	for _, name := range s.stored {
		found, err := s.docs.Get("doc-"+name, nil)
		s.must("Get", name, err)
		var got person
		s.must("Content", name, found.Content(&got))
		if (got != person{name, 7}) {
			s.t.Errorf("%s: found %v, want the age 7", name, got)
		}
	}
}
