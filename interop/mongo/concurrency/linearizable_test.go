package concurrency

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongotest"
)

// kind is an operation on one document's field n.
type kind int

const (
	read  kind = iota
	write      // n becomes value, whether or not the document exists
	swap       // n becomes value if it is old
	remove
)

type input struct {
	kind       kind
	key        int
	value, old int
}

// output is what an operation returned; unknown if that is not known, because it failed.
type output struct {
	value   int // 0 if there is no document
	done    bool
	unknown bool
}

// register is a document as porcupine sees it: the value of n, 0 if there is none.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := make(map[int][]porcupine.Operation)
		for _, op := range history {
			key := op.Input.(input).key
			byKey[key] = append(byKey[key], op)
		}
		var list [][]porcupine.Operation
		for _, ops := range byKey {
			list = append(list, ops)
		}
		return list
	},
	Init: func() any { return 0 },
	Step: func(state, in, out any) (bool, any) { return step(state.(int), in.(input), out.(output)) },
}

func step(state int, in input, out output) (legal bool, next any) {
	switch in.kind {
	case read:
		return out.value == state, state
	case write:
		return true, in.value
	case swap:
		if state != in.old || state == 0 {
			return out.unknown || !out.done, state
		}
		return out.unknown || out.done, in.value
	case remove:
		return out.unknown || out.done == (state != 0), 0
	}
	panic("no such operation")
}

// recorder notes when operations began and ended.
type recorder struct {
	mu      sync.Mutex
	clock   atomic.Int64
	history []porcupine.Operation
	failed  int
}

// do runs an operation. One whose result is not known may take effect at any time from then on; a read that failed is left
// out.
func (r *recorder) do(client int, in input, run func() (output, error)) {
	call := r.clock.Add(1)
	out, err := run()
	end := r.clock.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed++
		if in.kind == read {
			return
		}
		out, end = output{unknown: true}, math.MaxInt64
	}
	r.history = append(r.history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

// worker runs random operations on documents.
type worker struct {
	id     int
	c      *mongo.Collection
	random *rand.Rand
	rec    *recorder
}

func (w *worker) run(ctx context.Context, operations, documents int) {
	for n := range operations {
		in := input{kind(w.random.IntN(4)), w.random.IntN(documents), w.id*1_000_000 + n + 1, 0}
		if in.kind == remove && w.random.IntN(3) > 0 {
			in.kind = read
		}
		if in.kind == swap {
			_ = w.c.FindOne(ctx, byID(in.key)).Decode(&field{&in.old})
		}
		w.rec.do(w.id, in, func() (output, error) { return w.execute(ctx, in) })
		pause(ctx, time.Duration(w.random.IntN(20))*time.Millisecond)
	}
}

func byID(id int) bson.D { return bson.D{{Key: "_id", Value: id}} }

func set(n int) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: n}}}} }

// field decodes a document's n.
type field struct{ n *int }

func (f *field) UnmarshalBSON(b []byte) error {
	n, ok := bson.Raw(b).Lookup("n").AsInt64OK()
	if !ok {
		return errors.New("the document has no number n")
	}
	*f.n = int(n)
	return nil
}

func (w *worker) execute(ctx context.Context, in input) (output, error) {
	switch in.kind {
	case read:
		out := output{}
		err := w.c.FindOne(ctx, byID(in.key)).Decode(&field{&out.value})
		if errors.Is(err, mongo.ErrNoDocuments) {
			err = nil
		}
		return out, err
	case write:
		_, err := w.c.UpdateOne(ctx, byID(in.key), set(in.value), options.UpdateOne().SetUpsert(true))
		return output{done: true}, err
	case swap:
		filter := append(byID(in.key), bson.E{Key: "n", Value: in.old})
		err := w.c.FindOneAndUpdate(ctx, filter, set(in.value)).Err()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return output{}, nil
		}
		return output{done: true}, err
	case remove:
		result, err := w.c.DeleteOne(ctx, byID(in.key))
		if err != nil {
			return output{}, err
		}
		return output{done: result.DeletedCount == 1}, nil
	}
	panic("no such operation")
}

// TestOperationsAreLinearizable runs operations on single documents, with majority concerns, while primaries step down or die,
// and has porcupine look for an order of them that explains every result.
func TestOperationsAreLinearizable(t *testing.T) {
	for name, trouble := range map[string]trouble{"step-downs": stepDowns, "deaths": deaths} {
		for seed := range seeds() {
			r := play(t, seed, trouble, writeconcern.Majority())
			if result := porcupine.CheckOperationsTimeout(register, r.history, time.Minute); result != porcupine.Ok {
				t.Errorf("%s, seed %d: the history of %d operations (%d of unknown result) is %s", name, seed, len(r.history), r.failed,
					result)
			}
		}
	}
}

// seeds are how many histories of each trouble there are.
func seeds() uint64 {
	if testing.Short() {
		return 5
	}
	return 20
}

// TestALostWriteIsNotLinearizable makes sure that the test above can fail: a write that one member alone has acknowledged can be lost, and is not
// read by a majority at once.
func TestALostWriteIsNotLinearizable(t *testing.T) {
	for seed := range uint64(20) {
		r := play(t, seed, deaths, writeconcern.W1(), mongotest.ReplicationDelay(50*time.Millisecond))
		if porcupine.CheckOperationsTimeout(register, r.history, time.Minute) == porcupine.Illegal {
			return
		}
	}
	t.Error("20 histories of writes that one member acknowledged are all linearizable")
}

// trouble does something to a set until its context ends.
type trouble func(ctx context.Context, rs *mongotest.Deployment, random *rand.Rand)

func stepDowns(ctx context.Context, rs *mongotest.Deployment, random *rand.Rand) {
	for pause(ctx, time.Duration(50+random.IntN(400))*time.Millisecond) {
		_ = rs.StepDown()
	}
}

// deaths kills primaries and starts them again.
func deaths(ctx context.Context, rs *mongotest.Deployment, random *rand.Rand) {
	for pause(ctx, time.Duration(100+random.IntN(500))*time.Millisecond) {
		if p := rs.Primary(); p >= 0 {
			rs.Kill(p)
			pause(ctx, time.Second)
			rs.Restart(p)
		}
	}
}

// play runs the workers against a set that is troubled meanwhile, and returns what they saw.
func play(t *testing.T, seed uint64, do trouble, w *writeconcern.WriteConcern, more ...mongotest.Option) *recorder {
	t.Helper()
	r := &recorder{}
	synctest.Test(t, func(t *testing.T) {
		opts := append([]mongotest.Option{
			mongotest.InMemory(), mongotest.Latency(0, 5*time.Millisecond), mongotest.Seed(int64(seed)),
			mongotest.ElectionTimeout(300 * time.Millisecond),
		}, more...)
		rs := mongotest.RunReplicaSetT(t, 3, opts...)
		ctx, stop := context.WithCancel(t.Context())
		var workers, troubled sync.WaitGroup
		for id := range 8 {
			w := &worker{id, collection(t, rs, w), rand.New(rand.NewPCG(seed, uint64(id))), r}
			workers.Go(func() { w.run(ctx, 60, 4) })
		}
		troubled.Go(func() { do(ctx, rs, rand.New(rand.NewPCG(seed, 99))) })
		workers.Wait()
		stop()
		troubled.Wait()
	})
	return r
}

// collection is a collection with read concern majority, of a client of its own.
func collection(t *testing.T, rs *mongotest.Deployment, w *writeconcern.WriteConcern) *mongo.Collection {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetHeartbeatInterval(500 * time.Millisecond).
		SetReadConcern(readconcern.Majority()).SetWriteConcern(w))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database("db").Collection("c")
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
