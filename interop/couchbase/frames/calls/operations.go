// Package calls has one call of the client for each key-value operation and option.
package calls

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	couchbase "github.com/couchbase/gocb/v2"
)

// Step is one call, perhaps after others that it needs.
type Step struct {
	Name string
	Run  func(c *Client) error
	// Together is the number of requests that the call sends, if their order does not matter; 0: one after the other.
	Together int
}

const month = 30 * 24 * time.Hour

// expiries are below and above the 30 days up to which an expiry is relative.
var expiries = map[string]time.Duration{"half a second": time.Second / 2, "a second": time.Second, "1.5 s": 1500 * time.Millisecond, "an hour": time.Hour, "30 days less a second": month - time.Second, "30 days": month, "31 days": month + 24*time.Hour, "a year": 365 * 24 * time.Hour}

var levels = map[string]couchbase.DurabilityLevel{
	"none": couchbase.DurabilityLevelNone, "majority": couchbase.DurabilityLevelMajority,
	"majority and persist": couchbase.DurabilityLevelMajorityAndPersistOnMaster, "persist to majority": couchbase.DurabilityLevelPersistToMajority,
}

var transcoders = []struct {
	name       string
	transcoder couchbase.Transcoder
	value      any
}{
	{"JSON", couchbase.NewJSONTranscoder(), map[string]any{"a": "<&>", "b": []int{1, 2}}},
	{"JSON of a string", couchbase.NewJSONTranscoder(), "text"},
	{"JSON of nothing", couchbase.NewJSONTranscoder(), nil},
	{"JSON of a message", couchbase.NewJSONTranscoder(), json.RawMessage(`{"x": 1}`)},
	{"raw JSON", couchbase.NewRawJSONTranscoder(), []byte(`{"x": 1}`)},
	{"raw JSON of a string", couchbase.NewRawJSONTranscoder(), `{"x": 1}`},
	{"raw string", couchbase.NewRawStringTranscoder(), "text"},
	{"raw binary", couchbase.NewRawBinaryTranscoder(), []byte{0, 1, 2}},
	{"legacy of an object", couchbase.NewLegacyTranscoder(), map[string]any{"a": 1}},
	{"legacy of bytes", couchbase.NewLegacyTranscoder(), []byte{0, 1, 2}},
	{"legacy of a string", couchbase.NewLegacyTranscoder(), "text"},
	{"long", couchbase.NewJSONTranscoder(), strings.Repeat("holdfast ", 100)},
	{"long of an object", couchbase.NewJSONTranscoder(), map[string]any{"a": strings.Repeat("x", 5000), "n": []int{1, 2, 3}}},
	{"long and binary", couchbase.NewRawBinaryTranscoder(), []byte(strings.Repeat("abcdefgh", 20))},
	{"of 31 bytes", couchbase.NewRawBinaryTranscoder(), []byte(strings.Repeat("a", 31))},
	{"of 32 bytes", couchbase.NewRawBinaryTranscoder(), []byte(strings.Repeat("a", 32))},
	{"hardly smaller if it is compressed", couchbase.NewRawStringTranscoder(), "abcdefghijklmnopqrstuvwxyz0123456789abcdABCDEFGHIJKLMNOPQRSTUVWXYZ"},
	{"empty", couchbase.NewRawBinaryTranscoder(), []byte{}},
}

// Steps returns all calls.
func Steps() []Step {
	var all []Step
	for _, steps := range [][]Step{
		storeSteps(), durableSteps(), observedSteps(), readSteps(), lockSteps(), removeSteps(), counterSteps(), appendSteps(), lookupSteps(), changeSteps(), changeOptionSteps(),
		replicaSteps(), bulkSteps(), structureSteps(), collectionSteps(), userSteps(),
	} {
		all = append(all, steps...)
	}
	return all
}

func step(name string, run func(c *Client) error) Step { return Step{Name: name, Run: run} }

func first[T any](_ T, err error) error { return err }

// written returns the CAS of a document that it writes.
func (c *Client) written(key string) (couchbase.Cas, error) {
	r, err := c.c.Upsert(key, map[string]any{"n": 1, "list": []int{1, 2}, "o": map[string]any{"p": "q", "r": 2}, "s": "t"}, nil)
	if err != nil {
		return 0, err
	}
	return r.Cas(), nil
}

// after is a step that writes a document before its call.
func after(name string, run func(c *Client, cas couchbase.Cas) error) Step {
	return step(name, func(c *Client) error {
		cas, err := c.written("doc")
		if err != nil {
			return err
		}
		return run(c, cas)
	})
}

func storeSteps() []Step {
	var all []Step
	for _, t := range transcoders {
		all = append(
			all,
			step("insert: "+t.name, func(c *Client) error {
				return first(c.c.Insert("insert "+t.name, t.value, &couchbase.InsertOptions{Transcoder: t.transcoder}))
			}),
			step("upsert: "+t.name, func(c *Client) error {
				return first(c.c.Upsert("upsert "+t.name, t.value, &couchbase.UpsertOptions{Transcoder: t.transcoder}))
			}),
			step("replace: "+t.name, func(c *Client) error {
				return first(c.c.Replace("upsert "+t.name, t.value, &couchbase.ReplaceOptions{Transcoder: t.transcoder}))
			}),
		)
	}
	for _, name := range slices.Sorted(maps.Keys(expiries)) {
		d := expiries[name]
		all = append(
			all,
			step("insert: expiry "+name, func(c *Client) error {
				return first(c.c.Insert("insert "+name, 1, &couchbase.InsertOptions{Expiry: d}))
			}),
			step("upsert: expiry "+name, func(c *Client) error { return first(c.c.Upsert("doc", 1, &couchbase.UpsertOptions{Expiry: d})) }),
			step("replace: expiry "+name, func(c *Client) error {
				return errors.Join(first(c.written("doc")), first(c.c.Replace("doc", 1, &couchbase.ReplaceOptions{Expiry: d})))
			}),
			after("touch: "+name, func(c *Client, _ couchbase.Cas) error { return first(c.c.Touch("doc", d, nil)) }),
			after("get and touch: "+name, func(c *Client, _ couchbase.Cas) error { return first(c.c.GetAndTouch("doc", d, nil)) }),
			step("increment: expiry "+name, func(c *Client) error {
				return first(c.c.Binary().Increment("n "+name, &couchbase.IncrementOptions{Delta: 1, Initial: 5, Expiry: d}))
			}),
			after("mutate-in: expiry "+name, func(c *Client, _ couchbase.Cas) error {
				return first(c.c.MutateIn("doc", []couchbase.MutateInSpec{couchbase.UpsertSpec("a", 1, nil)}, &couchbase.MutateInOptions{Expiry: d}))
			}),
		)
	}
	return append(
		all,
		after("upsert: preserve expiry", func(c *Client, _ couchbase.Cas) error {
			return first(c.c.Upsert("doc", 1, &couchbase.UpsertOptions{PreserveExpiry: true}))
		}),
		after("upsert: preserve expiry and a level", func(c *Client, _ couchbase.Cas) error {
			return first(c.c.Upsert("doc", 1, &couchbase.UpsertOptions{PreserveExpiry: true, DurabilityLevel: couchbase.DurabilityLevelMajority}))
		}),
		after("replace: preserve expiry", func(c *Client, _ couchbase.Cas) error {
			return first(c.c.Replace("doc", 1, &couchbase.ReplaceOptions{PreserveExpiry: true}))
		}),
		after("replace: CAS", func(c *Client, cas couchbase.Cas) error {
			return first(c.c.Replace("doc", 1, &couchbase.ReplaceOptions{Cas: cas}))
		}),
		after("touch: for ever", func(c *Client, _ couchbase.Cas) error { return first(c.c.Touch("doc", 0, nil)) }),
	)
}

func durableSteps() []Step {
	var all []Step
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		l := levels[name]
		for _, timeout := range []time.Duration{0, 5 * time.Second} {
			name := fmt.Sprintf("%s, timeout %v", name, timeout)
			all = append(
				all,
				step("insert: durability "+name, func(c *Client) error {
					return first(c.c.Insert("durable "+name, 1, &couchbase.InsertOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
				step("upsert: durability "+name, func(c *Client) error {
					return first(c.c.Upsert("doc", 1, &couchbase.UpsertOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
				step("replace: durability "+name, func(c *Client) error {
					return first(c.c.Replace("doc", 1, &couchbase.ReplaceOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
				step("remove: durability "+name, func(c *Client) error {
					return first(c.c.Remove("doc", &couchbase.RemoveOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
				step("increment: durability "+name, func(c *Client) error {
					return first(c.c.Binary().Increment("durable counter", &couchbase.IncrementOptions{Delta: 1, Initial: 5, DurabilityLevel: l, Timeout: timeout}))
				}),
				step("decrement: durability "+name, func(c *Client) error {
					return first(c.c.Binary().Decrement("durable counter", &couchbase.DecrementOptions{Delta: 1, Initial: 5, DurabilityLevel: l, Timeout: timeout}))
				}),
				after("append: durability "+name, func(c *Client, _ couchbase.Cas) error {
					return first(c.c.Binary().Append("doc", []byte("x"), &couchbase.AppendOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
				after("prepend: durability "+name, func(c *Client, _ couchbase.Cas) error {
					return first(c.c.Binary().Prepend("doc", []byte("x"), &couchbase.PrependOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
				after("mutate-in: durability "+name, func(c *Client, _ couchbase.Cas) error {
					return first(c.c.MutateIn("doc", []couchbase.MutateInSpec{couchbase.UpsertSpec("a", 1, nil)}, &couchbase.MutateInOptions{DurabilityLevel: l, Timeout: timeout}))
				}),
			)
		}
	}
	return all
}

// observedSteps are writes after which the client asks the copies of the document.
func observedSteps() []Step {
	var all []Step
	for _, o := range []struct{ persist, replicate uint }{{1, 0}, {2, 0}, {0, 1}, {1, 1}} {
		name := fmt.Sprintf("persist to %d, replicate to %d", o.persist, o.replicate)
		observed := func(operation string, run func(c *Client) error) {
			all = append(all, Step{operation + ": " + name, run, 3}) // the write, and a look at each copy
		}
		observed("insert", func(c *Client) error {
			return first(c.c.Insert(name, 1, &couchbase.InsertOptions{PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("upsert", func(c *Client) error {
			return first(c.c.Upsert("doc", 1, &couchbase.UpsertOptions{PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("replace", func(c *Client) error {
			return first(c.c.Replace("doc", "x", &couchbase.ReplaceOptions{PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("append", func(c *Client) error {
			return first(c.c.Binary().Append("doc", []byte("x"), &couchbase.AppendOptions{PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("prepend", func(c *Client) error {
			return first(c.c.Binary().Prepend("doc", []byte("x"), &couchbase.PrependOptions{PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("remove", func(c *Client) error {
			return first(c.c.Remove("doc", &couchbase.RemoveOptions{PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("increment", func(c *Client) error {
			return first(c.c.Binary().Increment("observed counter", &couchbase.IncrementOptions{Delta: 1, Initial: 5, PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
		observed("decrement", func(c *Client) error {
			return first(c.c.Binary().Decrement("observed counter", &couchbase.DecrementOptions{Delta: 1, Initial: 5, PersistTo: o.persist, ReplicateTo: o.replicate}))
		})
	}
	return all
}

func readSteps() []Step {
	paths := make([]string, 20)
	for i := range paths {
		paths[i] = fmt.Sprintf("f%d", i)
	}
	get := func(name string, o *couchbase.GetOptions) Step {
		return after("get: "+name, func(c *Client, _ couchbase.Cas) error { return first(c.c.Get("doc", o)) })
	}
	return []Step{
		get("no options", nil),
		get("expiry", &couchbase.GetOptions{WithExpiry: true}),
		get("one projection", &couchbase.GetOptions{Project: []string{"n"}}),
		get("many projections", &couchbase.GetOptions{Project: []string{"n", "list[0]", "o.p", "none"}}),
		get("projections and expiry", &couchbase.GetOptions{Project: []string{"n", "s"}, WithExpiry: true}),
		get("15 projections and expiry", &couchbase.GetOptions{Project: paths[:15], WithExpiry: true}),
		get("16 projections", &couchbase.GetOptions{Project: paths[:16]}),
		get("16 projections and expiry", &couchbase.GetOptions{Project: paths[:16], WithExpiry: true}),
		get("17 projections", &couchbase.GetOptions{Project: paths[:17]}),
		get("20 projections and expiry", &couchbase.GetOptions{Project: paths, WithExpiry: true}),
		get("another transcoder", &couchbase.GetOptions{Transcoder: couchbase.NewRawJSONTranscoder()}),
		after("exists", func(c *Client, _ couchbase.Cas) error { return first(c.c.Exists("doc", nil)) }),
		step("exists: no document", func(c *Client) error { return first(c.c.Exists("none", nil)) }),
		step("get: a long key", func(c *Client) error {
			_, err := c.c.Get(strings.Repeat("k", 240), nil)
			return expect(err, couchbase.ErrDocumentNotFound)
		}),
		step("get: a key of Unicode", func(c *Client) error {
			_, err := c.c.Get("é日\x00", nil)
			return expect(err, couchbase.ErrDocumentNotFound)
		}),
	}
}

// expect returns an error if err is not the wanted one.
func expect(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	if err == nil {
		return fmt.Errorf("there is no error, but %q was expected", want.Error())
	}
	return fmt.Errorf("the error is not %q: %w", want.Error(), err)
}

func lockSteps() []Step {
	var all []Step
	for _, d := range []time.Duration{0, time.Second / 2, time.Second, 1500 * time.Millisecond, 30 * time.Second, 31 * time.Second, time.Hour} {
		all = append(all, after(fmt.Sprint("lock and unlock: ", d), func(c *Client, _ couchbase.Cas) error {
			r, err := c.c.GetAndLock("doc", d, nil)
			if err != nil {
				return err
			}
			return c.c.Unlock("doc", r.Cas(), nil)
		}))
	}
	return append(all, after("write of a locked document with its CAS", func(c *Client, _ couchbase.Cas) error {
		r, err := c.c.GetAndLock("doc", time.Second, nil)
		if err != nil {
			return err
		}
		return first(c.c.Replace("doc", 1, &couchbase.ReplaceOptions{Cas: r.Cas()}))
	}))
}

func removeSteps() []Step {
	return []Step{
		after("remove", func(c *Client, _ couchbase.Cas) error { return first(c.c.Remove("doc", nil)) }),
		after("remove: CAS", func(c *Client, cas couchbase.Cas) error {
			return first(c.c.Remove("doc", &couchbase.RemoveOptions{Cas: cas}))
		}),
	}
}

func counterSteps() []Step {
	return []Step{
		step("increment: initial", func(c *Client) error {
			return first(c.c.Binary().Increment("counter", &couchbase.IncrementOptions{Delta: 3, Initial: 10}))
		}),
		step("increment: initial of 0", func(c *Client) error {
			return first(c.c.Binary().Increment("counter 0", &couchbase.IncrementOptions{Delta: 3}))
		}),
		step("increment: no initial", func(c *Client) error {
			return first(c.c.Binary().Increment("counter", &couchbase.IncrementOptions{Delta: 1 << 40, Initial: -1}))
		}),
		step("increment: no options", func(c *Client) error { return first(c.c.Binary().Increment("counter", nil)) }),
		step("decrement: initial", func(c *Client) error {
			return first(c.c.Binary().Decrement("decremented", &couchbase.DecrementOptions{Delta: 3, Initial: 10, Expiry: time.Minute}))
		}),
		step("decrement: no initial", func(c *Client) error {
			return first(c.c.Binary().Decrement("counter", &couchbase.DecrementOptions{Delta: 7, Initial: -1}))
		}),
		step("decrement: no options", func(c *Client) error { return first(c.c.Binary().Decrement("counter", nil)) }),
	}
}

func appendSteps() []Step {
	long := []byte(strings.Repeat("abc", 100))
	return []Step{
		after("append", func(c *Client, _ couchbase.Cas) error { return first(c.c.Binary().Append("doc", []byte("x"), nil)) }),
		after("append: CAS", func(c *Client, cas couchbase.Cas) error {
			return first(c.c.Binary().Append("doc", []byte("x"), &couchbase.AppendOptions{Cas: cas}))
		}),
		after("append: long", func(c *Client, _ couchbase.Cas) error { return first(c.c.Binary().Append("doc", long, nil)) }),
		after("prepend", func(c *Client, _ couchbase.Cas) error { return first(c.c.Binary().Prepend("doc", []byte("x"), nil)) }),
		after("prepend: CAS", func(c *Client, cas couchbase.Cas) error {
			return first(c.c.Binary().Prepend("doc", []byte("x"), &couchbase.PrependOptions{Cas: cas}))
		}),
		after("prepend: long", func(c *Client, _ couchbase.Cas) error { return first(c.c.Binary().Prepend("doc", long, nil)) }),
	}
}
