package couchbase_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func check(t *testing.T, what string, got any, err error, want any) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v %v, not %v", what, got, err, want)
	}
}

func TestDataStructures(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		list := c.List("list")
		for _, err := range []error{list.Append("b"), list.Prepend("a"), list.Append(map[string]any{"y": 1, "x": 2})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		var s string
		err := list.At(1, &s)
		check(t, "an element", s, err, "b")
		n, err := list.IndexOf(map[string]any{"x": 2, "y": 1})
		check(t, "the index of an object", n, err, 2)
		n, err = list.IndexOf("none")
		check(t, "the index of nothing", n, err, -1)
		if err := list.RemoveAt(0); err != nil {
			t.Error(err)
		}
		n, err = list.Size()
		check(t, "the size of the list", n, err, 2)
		if err := list.Clear(); err != nil {
			t.Error(err)
		}
		if _, err := list.Size(); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Errorf("a list that was cleared: %v", err)
		}

		m := c.Map("map")
		for _, err := range []error{m.Add("b", 2), m.Add("a", "x"), m.Add("c", 3), m.Remove("c")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		err = m.At("a", &s)
		check(t, "a field", s, err, "x")
		yes, err := m.Exists("b")
		check(t, "a field that exists", yes, err, true)
		yes, err = m.Exists("c")
		check(t, "a field that does not exist", yes, err, false)
		keys, err := m.Keys()
		check(t, "the keys", keys, err, []string{"a", "b"})
		values, err := m.Values()
		check(t, "the values", values, err, []any{"x", 2.0})
		n, err = m.Size()
		check(t, "the size of the map", n, err, 2)

		set := c.Set("set")
		for _, err := range []error{set.Add("a"), set.Add("b"), set.Remove("none")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := set.Add("a"); !errors.Is(err, couchbase.ErrPathExists) {
			t.Errorf("an element that is there: %v", err)
		}
		if err := set.Remove("a"); err != nil {
			t.Error(err)
		}
		yes, err = set.Contains("a")
		check(t, "an element that was removed", yes, err, false)
		values, err = set.Values()
		check(t, "the elements", values, err, []any{"b"})
	})
}

func TestAQueueLosesAndDoublesNothing(t *testing.T) {
	withCollection(t, func(t *testing.T, c *couchbase.Collection) {
		queue := c.Queue("queue")
		const elements, workers = 40, 4
		for i := range elements {
			if err := queue.Push(i); err != nil {
				t.Fatal(err)
			}
		}
		var first int
		if err := queue.Pop(&first); err != nil || first != 0 {
			t.Errorf("the oldest: %d %v", first, err)
		}
		var mu sync.Mutex
		seen := map[int]int{}
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for {
					var v int
					err := queue.Pop(&v)
					if errors.Is(err, couchbase.ErrPathNotFound) {
						return
					}
					if errors.Is(err, couchbase.ErrCasMismatch) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					seen[v]++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		for i := 1; i < elements; i++ {
			if seen[i] != 1 {
				t.Errorf("element %d was popped %d times", i, seen[i])
			}
		}
	})
}

func TestInternalAccess(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		b := client.Bucket("default")
		status, err := b.Internal().CapabilityStatus(couchbase.CapabilityDurableWrites)
		check(t, "before the bucket is open", status, err, couchbase.CapabilityStatusUnknown)
		must[*couchbase.MutationResult](t)(b.DefaultCollection().Upsert("a", 1, nil))
		status, err = b.Internal().CapabilityStatus(couchbase.CapabilityDurableWrites)
		check(t, "durable writes", status, err, couchbase.CapabilityStatusSupported)
		if _, err := b.Internal().CapabilityStatus(99); !errors.Is(err, couchbase.ErrInvalidArgument) {
			t.Error(err)
		}
		nodes, err := client.Internal().GetNodesMetadata(nil)
		if err != nil || len(nodes) != 2 || nodes[0].Hostname == "" || nodes[0].Version == "" || nodes[0].Status != "healthy" {
			t.Errorf("%+v %v", nodes, err)
		}
	}, couchbasetest.Nodes(2))
}
