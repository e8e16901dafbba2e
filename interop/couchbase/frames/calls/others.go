package calls

import (
	"errors"
	"fmt"
	"time"

	couchbase "github.com/couchbase/gocb/v2"
)

func replicaSteps() []Step {
	specs := []couchbase.LookupInSpec{couchbase.GetSpec("n", nil), couchbase.GetSpec("$document", &couchbase.GetSpecOptions{IsXattr: true})}
	write := step("write of a document that is read from replicas", func(c *Client) error {
		_, err := c.c.Upsert("replicated", map[string]any{"n": 1}, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
		return err
	})
	return []Step{
		write,
		{"get any replica", func(c *Client) error { return first(c.c.GetAnyReplica("replicated", nil)) }, 2},
		{"get all replicas", func(c *Client) error {
			all, err := c.c.GetAllReplicas("replicated", nil)
			if err != nil {
				return err
			}
			for all.Next() != nil {
			}
			return all.Close()
		}, 2},
		{"lookup-in any replica", func(c *Client) error { return first(c.c.LookupInAnyReplica("replicated", specs, nil)) }, 2},
		{"lookup-in all replicas", func(c *Client) error {
			all, err := c.c.LookupInAllReplicas("replicated", specs, nil)
			if err != nil {
				return err
			}
			for all.Next() != nil {
			}
			return all.Close()
		}, 2},
		{"lookup-in any replica: access deleted", func(c *Client) error {
			o := &couchbase.LookupInAnyReplicaOptions{}
			o.Internal.DocFlags = couchbase.SubdocDocFlagAccessDeleted
			return first(c.c.LookupInAnyReplica("replicated", specs, o))
		}, 2},
	}
}

// GroupSteps read documents, some active in the preferred server group and some replicas there.
func GroupSteps() []Step {
	specs := []couchbase.LookupInSpec{couchbase.GetSpec("n", nil)}
	var all []Step
	for i := range 8 {
		key := fmt.Sprint("grouped ", i)
		all = append(
			all,
			step("write of "+key, func(c *Client) error {
				return first(c.c.Upsert(key, map[string]any{"n": 1}, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajorityAndPersistOnMaster}))
			}),
			step("get any replica in the group: "+key, func(c *Client) error {
				return first(c.c.GetAnyReplica(key, &couchbase.GetAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceSelectedServerGroup}))
			}),
			step("get all replicas in the group: "+key, func(c *Client) error {
				all, err := c.c.GetAllReplicas(key, &couchbase.GetAllReplicaOptions{ReadPreference: couchbase.ReadPreferenceSelectedServerGroup})
				if err != nil {
					return err
				}
				for all.Next() != nil {
				}
				return all.Close()
			}),
			step("lookup-in any replica in the group: "+key, func(c *Client) error {
				o := &couchbase.LookupInAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceSelectedServerGroup}
				return first(c.c.LookupInAnyReplica(key, specs, o))
			}),
			step("lookup-in all replicas in the group: "+key, func(c *Client) error {
				o := &couchbase.LookupInAllReplicaOptions{ReadPreference: couchbase.ReadPreferenceSelectedServerGroup}
				all, err := c.c.LookupInAllReplicas(key, specs, o)
				if err != nil {
					return err
				}
				for all.Next() != nil {
				}
				return all.Close()
			}),
			Step{"get any replica of all groups: " + key, func(c *Client) error {
				return first(c.c.GetAnyReplica(key, &couchbase.GetAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceNone}))
			}, 2},
		)
	}
	return all
}

func bulkSteps() []Step {
	do := func(name string, ops ...couchbase.BulkOp) Step {
		return Step{"bulk: " + name, func(c *Client) error { return c.c.Do(ops, nil) }, len(ops)}
	}
	return []Step{
		do("insert", &couchbase.InsertOp{ID: "b1", Value: 1}, &couchbase.InsertOp{ID: "b2", Value: "x", Expiry: time.Hour}),
		do("upsert", &couchbase.UpsertOp{ID: "b1", Value: 1}, &couchbase.UpsertOp{ID: "b2", Value: "x", Expiry: time.Hour}),
		do("replace", &couchbase.ReplaceOp{ID: "b1", Value: 1}, &couchbase.ReplaceOp{ID: "b2", Value: "x", Expiry: time.Hour}, &couchbase.ReplaceOp{ID: "b3", Cas: 5}),
		do("get", &couchbase.GetOp{ID: "b1"}, &couchbase.GetOp{ID: "none"}),
		do("get and touch", &couchbase.GetAndTouchOp{ID: "b1", Expiry: time.Hour}, &couchbase.GetAndTouchOp{ID: "b2", Expiry: 2 * month}),
		do("touch", &couchbase.TouchOp{ID: "b1", Expiry: time.Hour}, &couchbase.TouchOp{ID: "b2"}),
		do("append and prepend", &couchbase.AppendOp{ID: "b1", Value: "x"}, &couchbase.PrependOp{ID: "b2", Value: "y"}),
		do("counters", &couchbase.IncrementOp{ID: "b4", Delta: 1, Initial: 5}, &couchbase.DecrementOp{ID: "b5", Delta: 1, Initial: 5, Expiry: time.Hour},
			&couchbase.IncrementOp{ID: "b6", Delta: 1, Initial: -1}, &couchbase.DecrementOp{ID: "b7", Delta: 1}),
		do("remove", &couchbase.RemoveOp{ID: "b1"}, &couchbase.RemoveOp{ID: "b2", Cas: 5}),
	}
}

func structureSteps() []Step {
	var v any
	return []Step{
		step("list: append", func(c *Client) error { return c.c.List("list").Append("x") }),
		step("list: prepend", func(c *Client) error { return c.c.List("list").Prepend(1) }),
		step("list: at", func(c *Client) error { return c.c.List("list").At(1, &v) }),
		step("list: index", func(c *Client) error { return first(c.c.List("list").IndexOf("x")) }),
		step("list: size", func(c *Client) error { return first(c.c.List("list").Size()) }),
		step("list: iterator", func(c *Client) error { return first(c.c.List("list").Iterator()) }),
		step("list: remove", func(c *Client) error { return c.c.List("list").RemoveAt(0) }),
		step("list: clear", func(c *Client) error { return c.c.List("list").Clear() }),
		step("map: add", func(c *Client) error {
			return errors.Join(c.c.Map("map").Add("k", "x"), c.c.Map("map").Add("other", 1))
		}),
		step("map: at", func(c *Client) error { return c.c.Map("map").At("k", &v) }),
		step("map: exists", func(c *Client) error { return first(c.c.Map("map").Exists("k")) }),
		step("map: size", func(c *Client) error { return first(c.c.Map("map").Size()) }),
		step("map: keys", func(c *Client) error { return first(c.c.Map("map").Keys()) }),
		step("map: values", func(c *Client) error { return first(c.c.Map("map").Values()) }),
		step("map: iterator", func(c *Client) error { return first(c.c.Map("map").Iterator()) }),
		step("map: remove", func(c *Client) error { return c.c.Map("map").Remove("k") }),
		step("map: clear", func(c *Client) error { return c.c.Map("map").Clear() }),
		step("set: add", func(c *Client) error { return errors.Join(c.c.Set("set").Add("x"), c.c.Set("set").Add("y")) }),
		step("set: contains", func(c *Client) error { return first(c.c.Set("set").Contains("x")) }),
		step("set: size", func(c *Client) error { return first(c.c.Set("set").Size()) }),
		step("set: values", func(c *Client) error { return first(c.c.Set("set").Values()) }),
		step("set: remove", func(c *Client) error { return c.c.Set("set").Remove("x") }),
		step("set: clear", func(c *Client) error { return c.c.Set("set").Clear() }),
		step("queue: push", func(c *Client) error { return errors.Join(c.c.Queue("queue").Push(1), c.c.Queue("queue").Push("x")) }),
		step("queue: size", func(c *Client) error { return first(c.c.Queue("queue").Size()) }),
		step("queue: pop", func(c *Client) error { return c.c.Queue("queue").Pop(&v) }),
		step("queue: iterator", func(c *Client) error { return first(c.c.Queue("queue").Iterator()) }),
		step("queue: clear", func(c *Client) error { return c.c.Queue("queue").Clear() }),
	}
}

// collectionSteps use collections that the test made. The first call looks the id up.
func collectionSteps() []Step {
	in := func(name string, run func(c *couchbase.Collection) error) Step {
		return step("collection: "+name, func(c *Client) error { return run(c.bucket.Scope("scope").Collection("many")) })
	}
	return []Step{
		step("collection: of the default scope", func(c *Client) error { return first(c.bucket.Collection("plain").Upsert("doc", 1, nil)) }),
		in("upsert", func(c *couchbase.Collection) error { return first(c.Upsert("doc", map[string]any{"n": 1}, nil)) }),
		in("get", func(c *couchbase.Collection) error { return first(c.Get("doc", nil)) }),
		in("exists", func(c *couchbase.Collection) error { return first(c.Exists("doc", nil)) }),
		in("touch", func(c *couchbase.Collection) error { return first(c.Touch("doc", time.Hour, nil)) }),
		in("lookup-in", func(c *couchbase.Collection) error {
			return first(c.LookupIn("doc", []couchbase.LookupInSpec{couchbase.GetSpec("n", nil)}, nil))
		}),
		in("mutate-in", func(c *couchbase.Collection) error {
			return first(c.MutateIn("doc", []couchbase.MutateInSpec{couchbase.UpsertSpec("n", 2, nil)}, nil))
		}),
		in("counter", func(c *couchbase.Collection) error {
			return first(c.Binary().Increment("n", &couchbase.IncrementOptions{Delta: 1, Initial: 1}))
		}),
		in("durable", func(c *couchbase.Collection) error {
			return first(c.Upsert("doc", map[string]any{"n": 1}, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority}))
		}),
		in("remove", func(c *couchbase.Collection) error { return first(c.Remove("doc", nil)) }),
	}
}

// userSteps act for another user. Whether the server allows it does not matter: the request is compared.
func userSteps() []Step {
	return []Step{
		step("user: get", func(c *Client) error {
			o := &couchbase.GetOptions{}
			o.Internal.User = "another"
			_, _ = c.c.Get("doc", o)
			return nil
		}),
		step("user: upsert with all frames", func(c *Client) error {
			o := &couchbase.UpsertOptions{PreserveExpiry: true, DurabilityLevel: couchbase.DurabilityLevelMajority}
			o.Internal.User = "a user with a long name"
			_, _ = c.c.Upsert("doc", 1, o)
			return nil
		}),
		step("user: lookup-in", func(c *Client) error {
			o := &couchbase.LookupInOptions{}
			o.Internal.User = "another"
			_, _ = c.c.LookupIn("doc", []couchbase.LookupInSpec{couchbase.GetSpec("n", nil)}, o)
			return nil
		}),
	}
}
