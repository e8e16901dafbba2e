package mongo_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Server Selection, "Deprioritized servers": every mongos that failed in an operation is avoided while there are others.
func TestEveryMongosThatFailedIsAvoided(t *testing.T) {
	for range 5 {
		inside(t, sharded(4), nil, func(w *world) {
			w.seed()
			w.pass(time.Second) // every mongos is discovered
			var asked []int
			w.heal = w.set.Use("update", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				asked = append(asked, r.Mongos)
				if len(asked) < 6 {
					return refuse(1, "RetryableWriteError")
				}
				return mongotest.Fault{}
			}))
			ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
			defer cancel()
			w.must(writes[2].do(ctx, w.coll))
			if len(asked) != 6 {
				t.Fatalf("asked were %v", asked)
			}
			first := slices.Sorted(slices.Values(asked[:4]))
			if !slices.Equal(first, []int{0, 1, 2, 3}) {
				t.Errorf("asked were %v: each mongos once before any twice", asked)
			}
		})
	}
}

// On a replica set a server that failed is not avoided, unless it was overloaded and enableOverloadRetargeting is set.
func TestOnAReplicaSetOnlyOverloadIsRetargeted(t *testing.T) {
	overload := refuse(462, "SystemOverloadedError", "RetryableError")
	for _, c := range []struct {
		name     string
		retarget bool
		fault    mongotest.Fault
		always   bool // the second attempt goes to another member in every run
	}{
		{"overload with the option", true, overload, true},
		{"overload without it", false, overload, false},
		{"another failure with it", true, refuse(6), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			elsewhere := 0
			const runs = 40
			for range runs {
				in(t, func(o *options.ClientOptions) {
					o.ApplyURI(o.GetURI() + "&readPreference=secondary").SetEnableOverloadRetargeting(c.retarget)
				}, func(w *world) {
					w.pass(time.Second) // both secondaries are discovered
					var asked []int
					w.heal = w.set.Use("find", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
						if asked = append(asked, r.Member); len(asked) == 1 {
							return c.fault
						}
						return mongotest.Fault{}
					}))
					_ = findOne(w)
					if len(asked) != 2 {
						t.Fatalf("asked were %v", asked)
					}
					if asked[0] != asked[1] {
						elsewhere++
					}
				})
			}
			if (elsewhere == runs) != c.always {
				t.Errorf("%d of %d second attempts went to another member", elsewhere, runs)
			}
		})
	}
}
