package once

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// secondStepsRefused answers each second step with an error, so that the update stays pending.
var secondStepsRefused = mongotest.While(func(r *mongotest.Request) bool {
	_, first := r.Body.Lookup("updates", "0", "u", "$push", "_once.pending").DocumentOK()
	return !first
}, mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Message: "not authorized"}})

// sweepAll sweeps, until it has applied so many updates: a token may be as old as the millisecond.
func sweepAll(t *testing.T, coll *once.Collection, want int64) {
	t.Helper()
	applied := int64(0)
	for range 100 {
		r, err := coll.Sweep(t.Context(), once.SweepOptions{OlderThan: time.Nanosecond})
		if err != nil || r.Failures > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if applied += r.Applied; applied >= want {
			return
		}
	}
	t.Errorf("%d updates were applied, want %d", applied, want)
}

// The _id index of a collection has its collation: in one that ignores case, two spellings are one document.
func TestACollectionThatIgnoresCase(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		if !p.real {
			t.Skip("mongotest's collections have no collation")
		}
		plain, coll := p.open(t, "case", options.CreateCollection().SetCollation(&options.Collation{Locale: "en", Strength: 2}))
		for i, id := range []string{"visits", "VISITS", "Visits"} {
			end := p.losing(i)
			if _, err := coll.UpdateOne(t.Context(), d("_id", id), d("$inc", d("n", 1)), options.UpdateOne().SetUpsert(true)); err != nil {
				t.Error(err)
			}
			end()
		}
		end := p.server.Use("update", secondStepsRefused)
		if _, err := coll.UpdateOne(t.Context(), d("_id", "vISITS"), d("$inc", d("n", 1))); err == nil {
			t.Error("the second step was not refused")
		}
		end()
		sweepAll(t, coll, 1)
		if m := fieldsAfter(t, plain, "visits"); m["n"] != int32(4) {
			t.Errorf("%v", m)
		}
		if n, err := plain.CountDocuments(t.Context(), bson.D{}); err != nil || n != 1 {
			t.Errorf("%d documents, %v", n, err)
		}
		var failed *once.Error
		if _, err := coll.InsertOne(t.Context(), d("_id", "VisitS")); !errors.As(err, &failed) || failed.State != once.NotApplied {
			t.Errorf("%v; want that it is not inserted", err)
		}
	})
}

// A validator may forbid the tokens, or the result. Then nothing is applied, and nothing is left.
func TestValidators(t *testing.T) {
	forbidding := d("$jsonSchema", d("properties", d("_id", bson.D{}, "n", bson.D{}), "additionalProperties", false))
	for name, validator := range map[string]bson.D{"it forbids the tokens": forbidding, "it forbids the result": d("n", d("$lte", 5))} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, p *place) {
				plain, coll := p.open(t, "validated", options.CreateCollection().SetValidator(validator))
				insert(t, plain, d("_id", 1, "n", 5))
				for fault := -1; fault < 3; fault++ {
					end := p.losing(fault)
					_, err := coll.UpdateOne(t.Context(), d("_id", 1), d("$inc", d("n", 1)))
					end()
					var failed *once.Error
					if !errors.As(err, &failed) || failed.State == once.Pending || failed.State == once.Unknown && fault < 0 {
						t.Errorf("reply %d is lost: %v", fault, err)
					}
				}
				if m := fieldsAfter(t, plain, 1); m["n"] != int32(5) || len(m) != 1 {
					t.Errorf("%v", m)
				}
			})
		})
	}
}

// Other collections than the usual ones: a capped one, a view, one of time series.
func TestUnusualCollections(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		plain, coll := p.open(t, "capped", options.CreateCollection().SetCapped(true).SetSizeInBytes(1<<20))
		insert(t, plain, d("_id", 1, "n", 0))
		if _, err := coll.UpdateOne(t.Context(), d("_id", 1), d("$inc", d("n", 1))); err != nil {
			t.Errorf("capped: %v", err)
		} else if m := fieldsAfter(t, plain, 1); m["n"] != int32(1) {
			t.Errorf("capped: %v", m)
		}
		name := p.client + "_view"
		if err := p.plain.CreateView(t.Context(), name, plain.Name(), bson.A{}); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.plain.Collection(name).Drop(t.Context()) }()
		view, end, err := open(p.client, p.server.URI(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		var failed *once.Error
		if _, err := view.UpdateOne(t.Context(), d("_id", 1), d("$inc", d("n", 1))); !errors.As(err, &failed) || failed.State != once.NotApplied {
			t.Errorf("a view: %v", err)
		}
		if !p.real {
			return // mongotest has no time series
		}
		_, series := p.open(t, "series", options.CreateCollection().SetTimeSeriesOptions(options.TimeSeries().SetTimeField("at")))
		if _, err := series.InsertOne(t.Context(), d("_id", 1, "at", time.Now(), "n", 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := series.UpdateOne(t.Context(), d("_id", 1), d("$inc", d("n", 1))); !errors.As(err, &failed) || failed.State != once.NotApplied {
			t.Errorf("a time series: %v", err)
		}
	})
}

// The token has the bytes of the update, so the document must have room for them: 16 MiB in all.
func TestLargeUpdates(t *testing.T) {
	const mib = 1 << 20
	everywhere(t, func(t *testing.T, p *place) {
		plain, coll := p.open(t, "large")
		for id, c := range []struct {
			there, pushed int
			ok            bool
		}{{6 * mib, 9 * mib, true}, {0, 16*mib - 2048, true}, {8 * mib, 8 * mib, false}} {
			insert(t, plain, d("_id", id, "q", bson.A{strings.Repeat("a", c.there)}))
			_, err := coll.UpdateOne(t.Context(), d("_id", id), d("$push", d("q", strings.Repeat("b", c.pushed))))
			var failed *once.Error
			if (err == nil) != c.ok || err != nil && (!errors.As(err, &failed) || failed.State != once.NotApplied) {
				t.Errorf("%d and %d bytes: %.300v", c.there, c.pushed, err)
			}
			if q := fieldsAfter(t, plain, id)["q"].(bson.A); (len(q) == 2) != c.ok {
				t.Errorf("%d and %d bytes: %d elements", c.there, c.pushed, len(q))
			}
		}
	})
}
