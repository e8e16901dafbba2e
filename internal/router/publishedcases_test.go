package router_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// publishedFolders have the published cases for replica sets, and how many there are.
var publishedFolders = map[string]int{
	"server-selection/tests/server_selection/ReplicaSetNoPrimary/*/*.json":   24,
	"server-selection/tests/server_selection/ReplicaSetWithPrimary/*/*.json": 26,
	"server-selection/tests/in_window/rs-*.json":                             2,
	"max-staleness/tests/ReplicaSetNoPrimary/*.json":                         13,
	"max-staleness/tests/ReplicaSetWithPrimary/*.json":                       16,
}

// Each published case for replica sets is a set with these members, tags, latencies and lags. The router is asked, and the members' journal
// says who answered.
func TestPublishedReadPreferences(t *testing.T) {
	root := spectest.Folder(t)
	passed, all := 0, 0
	for pattern, least := range publishedFolders {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) < least {
			t.Errorf("%s: %d files, at least %d are expected; %v", pattern, len(files), least, err)
		}
		for _, file := range files {
			name, _ := filepath.Rel(root, file)
			all++
			t.Run(filepath.ToSlash(name), func(t *testing.T) {
				if runPublished(t, file); !t.Failed() {
					passed++
				}
			})
		}
	}
	if passed == all {
		fmt.Fprintf(os.Stdout, "figure router-readpref-cases %d\n", passed)
	}
}

func runPublished(t *testing.T, file string) {
	var c publishedCase
	spectest.Load(t, file, &c)
	run := (*caseWorld).checkWindow
	switch {
	case c.Error:
		run = (*caseWorld).checkRefused
	case len(c.Busy) > 0:
		run = (*caseWorld).checkFrequencies
	case len(c.InWindow) == 0:
		run = (*caseWorld).checkNobody
	case len(c.Deprioritized) > 0:
		run = (*caseWorld).checkDeprioritized
	}
	synctest.Test(t, func(t *testing.T) {
		w := newCaseWorld(t, &c)
		defer w.router.Close()
		run(w)
	})
}

// caseWorld is the set of a published case, and a router that has begun to look at it.
type caseWorld struct {
	*world
	*publishedCase
}

func newCaseWorld(t *testing.T, c *publishedCase) *caseWorld {
	t.Helper()
	members, set := c.members()
	w := &caseWorld{&world{T: t, network: memnet.New(memnet.Config{})}, c}
	w.set = mongotest.RunReplicaSetT(t, members, append(set, mongotest.InMemory())...)
	w.write()
	w.kill()
	// The hello of a new connection tells of its member too. With one that is there from the start nothing is heard while the test asks.
	upstream := options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()).SetMinPoolSize(1)
	if c.HeartbeatMS > 0 {
		upstream.SetHeartbeatInterval(time.Duration(c.HeartbeatMS) * time.Millisecond)
	}
	cfg := router.Config{Upstream: upstream, Window: time.Second}
	cfg.PinOperation = len(c.Deprioritized) > 0 || len(c.Busy) > 0
	if len(c.Deprioritized) > 0 { // only overload deprioritizes a member that stays known
		upstream.SetEnableOverloadRetargeting(true).SetMaxAdaptiveRetries(uint(len(c.Deprioritized)))
	}
	w.router = w.start(address, cfg)
	w.pass(discovery)
	return w
}

// discovery is long enough for the first hellos of each member, and shorter than the time until the next ones.
const discovery = 400 * time.Millisecond

// write writes whenever the last write of a member is to be, which gets no later one.
func (w *caseWorld) write() {
	w.Helper()
	lags := w.lags()
	steps := slices.Compact(slices.Sorted(slices.Values(append([]time.Duration{0}, lags...))))
	if len(steps) == 1 {
		return
	}
	insert := command("insert", "c", e("documents", bson.A{bson.D{}}), e("writeConcern", d("w", 1)))
	for i, step := range slices.Backward(steps) {
		if _, err := w.set.Command(w.set.Primary(), "app", insert); err != nil {
			w.Fatal(err)
		}
		synctest.Wait() // the secondaries have it
		for member, lag := range lags {
			if lag == step && lag > 0 {
				w.set.SetLag(member, forGood)
			}
		}
		if i > 0 {
			w.pass(step - steps[i-1])
		}
	}
}

// forGood is a lag that lasts longer than any case.
const forGood = 1000 * time.Hour

// kill ends the members that the case does not know to run.
func (w *caseWorld) kill() {
	for i := range w.set.Members() {
		if i == len(w.Topology.Servers) || !w.Topology.Servers[i].runs() {
			w.set.Kill(i)
		}
	}
}

// name returns the name of the case's command.
func (w *caseWorld) name() string { return w.command()[0].Key }

// checkRefused checks that the preference is refused and no member asked.
func (w *caseWorld) checkRefused() {
	o := w.dial().outcomeOf(w.command())
	if codes := []int32{2, 133, 160}; o.OK != 0 || !slices.Contains(codes, o.Code) || len(w.answered(w.name())) != 0 {
		w.Errorf("%+v, and the members %v were asked", o, w.answered(w.name()))
	}
}

// checkNobody checks that no member suits.
func (w *caseWorld) checkNobody() {
	o := w.dial().outcomeOf(w.command())
	if o.Code != 133 || len(w.answered(w.name())) != 0 {
		w.Errorf("%+v, and the members %v were asked", o, w.answered(w.name()))
	}
}

// checkWindow checks that each member in the latency window answers, and no other. Each client selects one of them.
func (w *caseWorld) checkWindow() {
	want := slices.Sorted(slices.Values(w.indices(w.InWindow)))
	for n := range 60 {
		w.dial().must(w.command())
		if n >= 8 && distinct(w.answered(w.name())) == len(want) {
			break
		}
	}
	if got := slices.Compact(slices.Sorted(slices.Values(w.answered(w.name())))); !slices.Equal(got, want) {
		w.Errorf("the members %v answered, want %v", got, want)
	}
}

// checkDeprioritized has each deprioritized member refuse the command once, because it is overloaded. The last attempt is that of the case.
func (w *caseWorld) checkDeprioritized() {
	want := w.indices(w.InWindow)
	overloaded := mongotest.Fault{Error: &mongotest.CommandError{
		Code: 462, Message: "scripted", Labels: []string{"SystemOverloadedError", "RetryableError"},
	}}
	seen := make(map[int]bool)
	for n := 0; n < 60 && (n < 4 || len(seen) < len(want)); n++ {
		refused := make([]atomic.Bool, w.set.Members())
		remove := w.set.Use(w.name(), mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if slices.Contains(w.indices(w.Deprioritized), r.Member) && !refused[r.Member].Swap(true) {
				return overloaded
			}
			return mongotest.Fault{}
		}))
		w.dial().must(w.command())
		remove()
		for _, member := range w.indices(w.Deprioritized) {
			if !refused[member].Load() {
				w.Fatalf("member %d was not asked, so it was not deprioritized", member)
			}
		}
		if seen[w.last(w.name())] = true; !slices.Contains(want, w.last(w.name())) {
			w.Fatalf("member %d answered, want one of %v", w.last(w.name()), want)
		}
	}
	if len(seen) != len(want) {
		w.Errorf("the members %v answered, want %v", seen, want)
	}
}

// checkFrequencies has each member execute as many operations as the case says, and counts where others go.
func (w *caseWorld) checkFrequencies() {
	defer w.occupy()()
	client := w.dial()
	for range w.Iterations {
		client.must(w.command())
	}
	count := make(map[int]int)
	for _, member := range w.answered(w.name()) {
		count[member]++
	}
	for address, want := range w.Outcome.Frequencies {
		n := count[w.index(address)]
		got := float64(n) / float64(w.Iterations)
		if math.Abs(got-want) > w.Outcome.Tolerance || want == 0 && n != 0 {
			w.Errorf("%s got %.3f of the operations, want %v", address, got, want)
		}
	}
}

// occupy begins as many operations at each member as the case says. They end when the returned function is called.
func (w *caseWorld) occupy() (end func()) {
	release := make(chan struct{})
	w.set.Use("count", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		<-release
		return next(r)
	})
	for _, busy := range w.Busy {
		for range busy.Operations {
			w.dial().send(d("count", "c"), preferring("nearest", taggedDC(busy.Address)))
		}
	}
	w.pass(time.Second)
	return func() { close(release) }
}
