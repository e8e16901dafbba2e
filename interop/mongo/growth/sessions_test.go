package growth

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
)

// sessions has the costs of explicit sessions, of which many are open at the same time, and of implicit ones while many are in the pool.
func sessions(t *testing.T, w *world) []series {
	sizes, total := []int{100, 1_000, 10_000}, 10_000
	if whole() {
		sizes, total = append(sizes, 100_000), 100_000
	}
	client := w.connect(t, alone)
	pooled := make(map[int]*mongo.Client)
	for _, n := range sizes {
		pooled[n] = w.connect(t, alone)
		if err := useSessions(pooled[n], n); err != nil {
			t.Fatal(err)
		}
	}
	return []series{
		{"explicit session, start and end", sizes, 0, func(t *testing.T, n int) float64 {
			return cpuOfEach(t, 10*total, func() error {
				for range 10 * total / n {
					if err := openSessions(client, n, nil); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{"explicit session with a FindOne", sizes, 0, func(t *testing.T, n int) float64 {
			times := max(1, total/5/n)
			return cpuOfEach(t, times*n, func() error {
				for range times {
					if err := useSessions(client, n); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{"implicit session, of a FindOne", sizes, 0, func(t *testing.T, n int) float64 { return findOnes(t, pooled[n]) }},
		{"session that Disconnect ends", sizes, 0, func(t *testing.T, n int) float64 {
			var cost float64
			times := max(1, 10_000/n)
			for range times {
				c := w.connect(t, alone)
				if err := useSessions(c, n); err != nil {
					t.Fatal(err)
				}
				cost += cpuOfEach(t, n, func() error { return c.Disconnect(context.Background()) })
			}
			return cost / float64(times)
		}},
	}
}

// useSessions opens n sessions, uses each, and ends them.
func useSessions(c *mongo.Client, n int) error {
	coll := c.Database(database).Collection(single)
	return openSessions(c, n, func(ctx context.Context) error { return coll.FindOne(ctx, bson.D{}).Err() })
}

// openSessions starts n sessions, so that all are open at the same time, uses each, if use is not nil, and ends them.
func openSessions(c *mongo.Client, n int, use func(context.Context) error) error {
	open := make([]*mongo.Session, n)
	for i := range open {
		s, err := c.StartSession()
		if err != nil {
			return err
		}
		if open[i] = s; use == nil {
			continue
		}
		if err := use(mongo.NewSessionContext(context.Background(), s)); err != nil {
			return err
		}
	}
	for _, s := range open {
		s.EndSession(context.Background())
	}
	if left := c.NumberSessionsInProgress(); left != 0 {
		return fmt.Errorf("%d sessions are left", left)
	}
	return nil
}
