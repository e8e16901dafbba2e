package router_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The tests of this file check the sentences of the read preferences document of 2014 on "Requests": the reads of one connection of a client
// are one request.

// inSet runs f with a replica set, whose members all have one document, and a router that knows it.
func inSet(t *testing.T, members int, set []mongotest.Option, f func(w *world), change ...func(*router.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set = append([]mongotest.Option{mongotest.InMemory()}, set...)
		w := &world{T: t, set: mongotest.RunReplicaSetT(t, members, set...), network: memnet.New(memnet.Config{})}
		cfg := router.Config{Upstream: w.upstream()}
		for _, c := range change {
			c(&cfg)
		}
		w.router = w.start(address, cfg)
		defer w.router.Close()
		w.seed()
		f(w)
	})
}

// inDCs gives the members from 0 on a tag.
func inDCs(names ...string) []mongotest.Option {
	var all []mongotest.Option
	for i, name := range names {
		all = append(all, mongotest.Member(i, mongotest.Tags(map[string]string{"dc": name})))
	}
	return all
}

var find = d("find", "c")

// read reads once and returns the member that answered.
func (c *wireClient) read(preference ...bson.E) int {
	c.w.Helper()
	c.must(find, preference...)
	return c.w.last("find")
}

// script applies the faults to the next messages of a command, one to each.
func (w *world) script(command string, faults ...mongotest.Fault) (end func()) {
	var seen atomic.Int64
	return w.set.Use(command, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		if n := int(seen.Add(1)); n <= len(faults) {
			return faults[n-1]
		}
		return mongotest.Fault{}
	}))
}

func errorReply(code int32) mongotest.Fault {
	return mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "scripted"}}
}

var (
	loseRequest = mongotest.Fault{LoseRequest: true}
	loseReply   = mongotest.Fault{LoseReply: true}
)

func distinct(members []int) int { return len(slices.Compact(slices.Sorted(slices.Values(members)))) }

func TestTheReadsOfAConnectionGoToOneMember(t *testing.T) {
	for _, pins := range []bool{true, false} {
		inSet(t, 3, nil, func(w *world) {
			var all []int
			for range 20 {
				c := w.dial()
				var mine []int
				for range 20 {
					mine = append(mine, c.read(preferring("nearest")))
				}
				if pins && distinct(mine) != 1 {
					w.Errorf("the reads of a connection went to the members %v", mine)
				}
				all = append(all, mine[0])
				if !pins {
					all = mine // each operation selects its member anew
				}
			}
			if distinct(all) < 2 {
				w.Errorf("all reads went to the members %v", all)
			}
		}, func(c *router.Config) { c.PinOperation = !pins })
	}
}

func TestAnotherReadPreferenceUnpins(t *testing.T) {
	for name, c := range map[string]struct {
		between []bson.E
		unpins  bool
	}{
		"the same one":           {[]bson.E{preferring("nearest")}, false},
		"another mode":           {[]bson.E{preferring("secondary")}, true},
		"primary":                {[]bson.E{preferring("primary")}, true},
		"none, which is primary": {nil, true},
		"other tags":             {[]bson.E{preferring("nearest", taggedDC("west"))}, true},
		"a limit of staleness":   {[]bson.E{preferring("nearest", e("maxStalenessSeconds", 120))}, true},
		"an unknown field more":  {[]bson.E{preferring("nearest", e("colour", "red"))}, false},
	} {
		inSet(t, 3, inDCs("east", "west", "west"), func(w *world) {
			moved := false
			for range 40 {
				c1 := w.dial()
				pinned := c1.read(preferring("nearest"))
				c1.must(find, c.between...)
				moved = moved || c1.read(preferring("nearest")) != pinned
			}
			if moved != c.unpins {
				w.Errorf("%s: a read went to another member: %v", name, moved)
			}
		})
	}
}

func TestOtherCommandsDoNotUnpin(t *testing.T) {
	transaction := []bson.E{e("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})), e("txnNumber", int64(1)), e("autocommit", false)}
	for name, between := range map[string][]bson.D{
		"a write":                  {command("insert", "c", e("documents", bson.A{bson.D{}}))},
		"a command off the list":   {d("listCollections", 1), command("listIndexes", "c", preferring("secondary"))},
		"one the router answers":   {d("ping", 1), d("hello", 1)},
		"an aggregation with $out": {command("aggregate", "c", append(stages(d("$out", "other")), preferring("secondary"))...)},
		"a read in a transaction":  {command("find", "c", append(transaction, e("startTransaction", true))...), command("commitTransaction", 1, transaction...)},
	} {
		inSet(t, 3, nil, func(w *world) {
			for i := range 10 {
				if name == "a read in a transaction" && i > 0 {
					return // its number may be used once
				}
				c := w.dial()
				pinned := c.read(preferring("secondary"))
				for _, command := range between {
					if o := c.outcomeOf(command); o.OK != 1 && o.Code != 13 {
						w.Fatalf("%s: %+v", name, o)
					}
				}
				for range 5 {
					if got := c.read(preferring("secondary")); got != pinned {
						w.Errorf("%s: member %d, %d was pinned", name, got, pinned)
					}
				}
			}
		})
	}
}

func TestAMemberThatGoesDownUnpins(t *testing.T) {
	inSet(t, 3, nil, func(w *world) {
		c := w.dial()
		down := c.read(preferring("secondary"))
		w.set.Kill(down)
		next := c.read(preferring("secondary"))
		if next == down || next == w.set.Primary() {
			w.Fatalf("after member %d: member %d", down, next)
		}
		w.set.Restart(down)
		w.pass(30 * time.Second)
		for range 20 {
			if got := c.read(preferring("secondary")); got != next {
				w.Fatalf("member %d, %d was pinned", got, next)
			}
		}
	})
}

func TestANewPrimaryUnpinsEveryClient(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(w *world) error
		moves   bool
	}{
		"a new primary": {func(w *world) error { return w.set.StepDown() }, true},
		"nothing":       {func(*world) error { return nil }, false},
	} {
		inSet(t, 5, nil, func(w *world) {
			var clients []*wireClient
			var pins []int
			for range 60 {
				c := w.dial()
				clients, pins = append(clients, c), append(pins, c.read(preferring("secondary")))
			}
			if err := c.happens(w); err != nil {
				w.Fatal(err)
			}
			w.pass(30 * time.Second)
			moved := 0
			for i, c := range clients {
				if got := c.read(preferring("secondary")); pins[i] != w.set.Primary() && got != pins[i] {
					moved++
				}
			}
			if (moved > 20) != c.moves || !c.moves && moved > 0 { // of four secondaries a fourth stays by chance
				w.Errorf("%s: %d clients moved", name, moved)
			}
		})
	}
}

func TestAChangeOfTagsDoesNotUnpin(t *testing.T) {
	inSet(t, 3, inDCs("east", "west", "west"), func(w *world) {
		east := preferring("nearest", taggedDC("east"))
		c := w.dial()
		if got := c.read(east); got != 0 {
			w.Fatalf("member %d has the tag", got)
		}
		w.retag("west", "east", "west")
		for range 5 {
			if got := c.read(east); got != 0 {
				w.Errorf("member %d, 0 was pinned", got)
			}
			if got := w.dial().read(east); got != 1 {
				w.Errorf("a new client: member %d, 1 has the tag", got)
			}
		}
	})
}

// retag changes the tags of all members, and waits until the router knows.
func (w *world) retag(names ...string) {
	w.Helper()
	list := bson.A{}
	for i, name := range names {
		list = append(list, bson.D{e("_id", i), e("host", w.set.Addr(i)), e("tags", d("dc", name))})
	}
	if _, err := w.set.Command(w.set.Primary(), "admin", d("replSetReconfig", bson.D{e("_id", "rs0"), e("version", 2), e("members", list)})); err != nil {
		w.Fatal(err)
	}
	w.pass(30 * time.Second)
}

func TestAChangeOfRoundTripTimesDoesNotUnpin(t *testing.T) {
	inSet(t, 3, nil, func(w *world) {
		c := w.dial()
		pinned := c.read(preferring("nearest"))
		defer w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if r.Member != pinned {
				return mongotest.Fault{}
			}
			return mongotest.Fault{Delay: 400 * time.Millisecond}
		}))()
		w.pass(2 * time.Minute)
		for range 20 {
			if w.dial().read(preferring("nearest")) == pinned {
				w.Fatal("the pinned member is still in the latency window")
			}
		}
		if got := c.read(preferring("nearest")); got != pinned {
			w.Errorf("member %d, %d was pinned", got, pinned)
		}
	})
}

// The two additions to the rules of 2014.
func TestAFallbackIsUnpinnedWhenThePreferredKindIsBack(t *testing.T) {
	for name, c := range map[string]struct {
		preference bson.E
		moves      bool
	}{
		"any secondary":                     {preferring("secondaryPreferred"), true},
		"a secondary with the tags":         {preferring("secondaryPreferred", taggedDC("east")), true},
		"a secondary without the tags":      {preferring("secondaryPreferred", taggedDC("west")), false},
		"the first of several tag sets":     {preferring("secondaryPreferred", taggedDC("west", "east")), true},
		"nearest has no preferred kind":     {preferring("nearest"), false},
		"nearest with the primary's tag":    {preferring("nearest", taggedDC("west")), false},
		"primaryPreferred, at the primary":  {preferring("primaryPreferred"), false},
		"a limit of staleness, fresh again": {preferring("secondaryPreferred", e("maxStalenessSeconds", 90)), true},
	} {
		set := append(inDCs("west", "east"), mongotest.Member(0, mongotest.Priority(2)), mongotest.Member(2, mongotest.Arbiter()))
		inSet(t, 3, set, func(w *world) {
			client := w.dial()
			w.set.Kill(1)
			w.pass(15 * time.Second)
			if got := client.read(c.preference); got != 0 {
				w.Fatalf("%s: member %d", name, got)
			}
			w.set.Restart(1)
			w.pass(30 * time.Second)
			if got := client.read(c.preference); (got == 1) != c.moves {
				w.Errorf("%s: member %d", name, got)
			}
		})
	}
}

func TestAMemberThatIsTooStaleIsUnpinned(t *testing.T) {
	for name, c := range map[string]struct {
		preference bson.E
		moves      bool
	}{
		"secondary with a limit":    {preferring("secondary", e("maxStalenessSeconds", 90)), true},
		"secondary with a long one": {preferring("secondary", e("maxStalenessSeconds", 3600)), false},
		"secondary without a limit": {preferring("secondary"), false},
	} {
		inSet(t, 3, nil, func(w *world) {
			client := w.dial()
			pinned := client.read(c.preference)
			w.set.SetLag(pinned, time.Hour)
			for range 20 {
				if err := w.set.Insert("app.other", bson.D{}); err != nil {
					w.Fatal(err)
				}
				w.pass(10 * time.Second)
			}
			if got := client.read(c.preference); (got != pinned) != c.moves {
				w.Errorf("%s: member %d, %d was pinned", name, got, pinned)
			}
		})
	}
}
