package failover

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

const (
	runs     = 20
	election = 200 * time.Millisecond
	patience = 20 * time.Second
)

// scenario is one line of the table.
type scenario struct {
	name    string
	figure  string
	mode    string
	writers int
	settle  time.Duration // from the first write to the death of the primary, in the first run
	step    time.Duration // how much longer in each further run
	fake    bool          // on the fake clock: the timers decide, not the machine
}

var scenarios = []scenario{
	{"streaming, 1 writer", "failover-streaming", options.ServerMonitoringModeStream, 1, 50 * time.Millisecond, 3 * time.Millisecond, false},
	{"streaming, 32 writers", "failover-streaming-32", options.ServerMonitoringModeStream, 32, 50 * time.Millisecond, 3 * time.Millisecond, false},
	{"polling, 1 writer", "failover-polling", options.ServerMonitoringModePoll, 1, time.Second, 53 * time.Millisecond, true},
}

// TestFailover kills the primary of a set whose election takes 200 ms, while the writers insert documents, and measures the
// excess: the time of the first success minus the time of the election. The drivers take turns; the figures are the medians
// of 20 runs. With -short there is only what the fake clock measures.
func TestFailover(t *testing.T) {
	medians := make(map[string]map[string]time.Duration)
	fmt.Printf("%-24s %14s %14s\n", "excess, median of 20", driver.NameOfficial, driver.NameOurs)
	for _, s := range scenarios {
		if testing.Short() && !s.fake {
			continue
		}
		m := s.medians(t)
		medians[s.figure] = m
		fmt.Printf("%-24s %14v %14v\n", s.name, m[driver.NameOfficial].Round(10*time.Microsecond), m[driver.NameOurs].Round(10*time.Microsecond))
		fmt.Printf("figure %s-excess-ms %.2f\n", s.figure, milliseconds(m[driver.NameOurs]))
		fmt.Printf("figure official-%s-excess-ms %.2f\n", s.figure, milliseconds(m[driver.NameOfficial]))
	}
	ours := func(figure string) float64 { return milliseconds(medians[figure][driver.NameOurs]) }
	official := func(figure string) float64 { return milliseconds(medians[figure][driver.NameOfficial]) }
	ratio := ours("failover-polling") / official("failover-polling")
	fmt.Printf("figure failover-polling-vs-official %.2f\n", ratio)
	if ratio > 0.5 {
		t.Errorf("polling: the excess is %.2f of the official driver's, at most 0.5 is allowed", ratio)
	}
	if testing.Short() {
		return
	}
	if got := ours("failover-streaming"); got > 5 {
		t.Errorf("streaming, 1 writer: the excess is %.2f ms, at most 5 are allowed", got)
	}
	if got, limit := ours("failover-streaming-32"), official("failover-streaming-32")+2; got > limit {
		t.Errorf("streaming, 32 writers: the excess is %.2f ms, at most %.2f are allowed", got, limit)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// medians returns the median excess of each driver.
func (s scenario) medians(t *testing.T) map[string]time.Duration {
	all := make(map[string][]time.Duration)
	for i := range runs {
		for _, name := range driver.Names() {
			t.Run(fmt.Sprintf("%s/%s/%d", s.name, name, i), func(t *testing.T) {
				settle := s.settle + time.Duration(i)*s.step
				if s.fake {
					synctest.Test(t, func(t *testing.T) { all[name] = append(all[name], s.excess(t, name, settle)) })
				} else {
					all[name] = append(all[name], s.excess(t, name, settle))
				}
			})
		}
	}
	medians := make(map[string]time.Duration)
	for name, list := range all {
		medians[name] = median(list)
	}
	return medians
}

// excess makes one run.
func (s scenario) excess(t *testing.T, name string, settle time.Duration) time.Duration {
	set := s.run(t)
	client := connect(t, name, set, s.mode)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := &writers{found: make(chan struct{})}
	for range s.writers {
		coll := client.Collection("failover", "c")
		if _, err := coll.InsertOne(ctx, bson.D{}); err != nil {
			t.Fatal(err)
		}
		w.Go(func() { w.insert(ctx, coll) })
	}
	pause(ctx, settle)
	set.Kill(set.Primary())
	if _, err := set.WaitPrimary(ctx); err != nil {
		t.Fatal(err)
	}
	elected := time.Now()
	w.elected.Store(&elected)
	select {
	case <-w.found:
	case <-ctx.Done():
		t.Fatal("no write succeeded after the election")
	}
	cancel()
	w.Wait()
	return w.first.Sub(elected)
}

func (s scenario) run(t *testing.T) *mongotest.Deployment {
	t.Helper()
	opts := []mongotest.Option{mongotest.ElectionTimeout(election)}
	if s.fake {
		opts = append(opts, mongotest.InMemory(), mongotest.Latency(200*time.Microsecond, 200*time.Microsecond))
	}
	return mongotest.RunReplicaSetT(t, 3, opts...)
}

func connect(t *testing.T, name string, set *mongotest.Deployment, mode string) driver.Client {
	t.Helper()
	o := options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetServerMonitoringMode(mode)
	client, err := driver.Connect(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// writers insert documents without a pause.
type writers struct {
	sync.WaitGroup
	elected atomic.Pointer[time.Time] // nil before the election
	once    sync.Once
	first   time.Time     // of the first success after the election
	found   chan struct{} // closed when there is one
}

func (w *writers) insert(ctx context.Context, coll driver.Collection) {
	for ctx.Err() == nil {
		if _, err := coll.InsertOne(ctx, bson.D{}); err == nil {
			w.succeeded(time.Now())
		}
	}
}

func (w *writers) succeeded(at time.Time) {
	if elected := w.elected.Load(); elected != nil && at.After(*elected) {
		w.once.Do(func() {
			w.first = at
			close(w.found)
		})
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
