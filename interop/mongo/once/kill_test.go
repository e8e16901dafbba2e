package once

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

var kills = flag.Int("kills", 40, "how many programs are killed with each client on each server")

const (
	perProgram  = 3  // operations
	perDocument = 60 // operations
)

// server is a deployment, or a proxy in front of a real one.
type server interface {
	Use(command string, m mongotest.Middleware) (remove func())
	URI() string
}

// TestKill kills programs with SIGKILL at messages of their updates, the message before or after it was executed. After a sweep, no increment is
// missing or doubled.
func TestKill(t *testing.T) {
	uri := os.Getenv("HOLDFAST_MONGODB_URI")
	if uri == "" && os.Getenv("CI") != "" {
		t.Error("HOLDFAST_MONGODB_URI is not set")
	}
	missing, extra := 0, 0
	for _, client := range []string{ours, theirs} {
		t.Run("mongotest, "+client, func(t *testing.T) {
			m, e := kill(t, mongotest.RunStandaloneT(t), client)
			missing, extra = missing+m, extra+e
		})
		if uri != "" {
			t.Run("a real server, "+client, func(t *testing.T) {
				m, e := kill(t, mongotest.RunProxyT(t, uri), client)
				missing, extra = missing+m, extra+e
			})
		}
	}
	fmt.Printf("figure once-missing %d\nfigure once-extra %d\n", missing, extra)
}

// victim is the program that runs.
type victim struct {
	mu       sync.Mutex
	process  *os.Process
	messages int  // updates that came
	at       int  // the message at which it is killed
	after    bool // when the message was executed
	killed   bool
}

func kill(t *testing.T, s server, client string) (missing, extra int) {
	collection := fmt.Sprintf("kill_%s_%d", client, time.Now().UnixNano())
	random := rand.New(rand.NewPCG(1, uint64(len(client))))
	v := &victim{}
	defer s.Use("update", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.messages++
		strikes := v.process != nil && v.messages == v.at
		if strikes && !v.after {
			v.end()
			return &mongotest.Reply{Lost: true}
		}
		reply := next(r)
		if strikes && reply != nil {
			v.end()
			reply.Lost = true
		}
		return reply
	})()
	want := make(map[int]int) // how often each operation must be applied after a sweep
	for run := range *kills {
		first := run * perProgram
		v.mu.Lock()
		v.messages, v.at, v.after, v.killed = 0, 1+random.IntN(2*perProgram), random.IntN(2) == 0, false
		at, after := v.at, v.after
		v.mu.Unlock()
		told := v.run(t, client, collection, document(first), first, s.URI())
		for i := range perProgram {
			mark := 2*i + 1 // the number of its first message
			if mark < at || mark == at && after {
				want[first+i] = 1
			}
			if told[first+i] && want[first+i] == 0 {
				t.Errorf("operation %d was acknowledged before its first step", first+i)
			}
		}
	}
	coll, end, err := open(client, s.URI(), collection)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	var sweeps sync.WaitGroup
	for range 2 {
		sweeps.Go(func() {
			if r, err := coll.Sweep(t.Context(), once.SweepOptions{OlderThan: time.Nanosecond}); err != nil || r.Failures > 0 {
				t.Errorf("sweep: %+v, %v", r, err)
			}
		})
	}
	sweeps.Wait()
	applied := read(t, s.URI(), collection)
	for operation := range *kills * perProgram {
		switch n := applied[operation] - want[operation]; {
		case n < 0:
			missing++
		case n > 0:
			extra++
		}
	}
	if missing+extra > 0 {
		t.Errorf("%d of %d increments are missing, %d are extra", missing, len(want), extra)
	}
	return missing, extra
}

func document(first int) string { return "d" + strconv.Itoa(first/perDocument) }

// end kills the program. v.mu is held.
func (v *victim) end() {
	v.killed = true
	_ = v.process.Kill()
}

// run runs the program until it is killed, and returns the operations whose success it was told of.
func (v *victim) run(t *testing.T, client, collection, document string, first int, uri string) map[int]bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %d %d %s", job, client, collection, document, first, perProgram, uri))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	if err := cmd.Start(); err != nil {
		v.mu.Unlock()
		t.Fatal(err)
	}
	v.process = cmd.Process
	v.mu.Unlock()
	told := make(map[int]bool)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "done ")
		operation, err := strconv.Atoi(text)
		if !ok || err != nil {
			t.Errorf("the program says %q", lines.Text())
			continue
		}
		told[operation] = true
	}
	err = cmd.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.process = nil; !v.killed {
		t.Errorf("the program was not killed: %v, %d messages", err, v.messages)
	}
	return told
}

// read returns how often each operation is applied, and checks that the counters are their sums and that nothing is pending.
func read(t *testing.T, uri, collection string) map[int]int {
	t.Helper()
	client, err := official.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	coll := client.Database(database).Collection(collection)
	cursor, err := coll.Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var all []bson.Raw
	if err := cursor.All(t.Context(), &all); err != nil || len(all) == 0 {
		t.Fatalf("%d documents, %v", len(all), err)
	}
	applied := make(map[int]int)
	for _, doc := range all {
		elements, _ := doc.Elements()
		sum := 0
		for _, e := range elements {
			if operation, err := strconv.Atoi(strings.TrimPrefix(e.Key(), "o")); err == nil && e.Key() != "n" {
				applied[operation] = int(e.Value().AsInt64())
				sum += applied[operation]
			}
		}
		if n := int(doc.Lookup("n").AsInt64()); n != sum {
			t.Errorf("the counter is %d, its operations are %d", n, sum)
		}
		if pending, _ := doc.Lookup("_once", "pending").Array().Values(); len(pending) > 0 {
			t.Errorf("%d updates are pending", len(pending))
		}
	}
	if err := coll.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	return applied
}
