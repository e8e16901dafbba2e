package router_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// "Only socket errors move to another member, which must match mode and tags: three members in all, then an error, and the next read starts
// afresh. Other retryable codes get one retry, getMore never."
func TestAReadTriesThreeMembers(t *testing.T) {
	three := []mongotest.Fault{loseRequest, loseRequest, loseRequest}
	east := preferring("nearest", taggedDC("east"))
	for name, c := range map[string]struct {
		preference bson.E
		faults     []mongotest.Fault
		attempts   int
		members    int
		code       int32
	}{
		"the first fails":                               {preferring("nearest"), three[:1], 2, 2, 0},
		"two fail":                                      {preferring("nearest"), []mongotest.Fault{loseRequest, loseReply}, 3, 3, 0},
		"three fail: there is no fourth":                {preferring("nearest"), three, 3, 3, 6},
		"only members that match":                       {preferring("secondary", taggedDC("west")), three, 2, 2, 6},
		"only members with the tags":                    {east, three, 1, 1, 6},
		"another retryable code":                        {east, []mongotest.Fault{errorReply(89)}, 2, 1, 0},
		"two other retryable codes":                     {east, []mongotest.Fault{errorReply(89), errorReply(89)}, 2, 1, 89},
		"two other retryable codes, after socket error": {preferring("secondary", taggedDC("west")), []mongotest.Fault{loseRequest, errorReply(89), errorReply(89)}, 3, 2, 89},
		"a code that is not retryable":                  {preferring("nearest"), []mongotest.Fault{errorReply(2)}, 1, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inSet(t, 5, inDCs("", "east", "west", "west", ""), func(w *world) {
				client := w.dial()
				before := len(w.answered("find"))
				heal := w.script("find", c.faults...)
				began := time.Now()
				o := client.outcomeOf(find, c.preference)
				got := w.answered("find")[before:]
				if o.Code != c.code || (o.OK == 1) != (c.code == 0) || len(got) != c.attempts || distinct(got) != c.members {
					w.Errorf("the members %v, then %+v", got, o)
				}
				if c.attempts == c.members && time.Since(began) != 0 {
					w.Errorf("it took %v", time.Since(began))
				}
				heal()
				w.pass(time.Second)
				client.must(find, c.preference) // the next read starts afresh
			})
		})
	}
}

func TestAGetMoreIsNotRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		fault mongotest.Fault
		code  int32
	}{
		"a lost request":             {loseRequest, 6},
		"a lost reply":               {loseReply, 6},
		"another retryable code":     {errorReply(89), 89},
		"one of a change of state":   {errorReply(91), 6},
		"one that is not to be sent": {errorReply(2), 2},
	} {
		inSet(t, 3, nil, func(w *world) {
			if err := w.set.Insert("app.c", bson.D{}, bson.D{}, bson.D{}); err != nil {
				w.Fatal(err)
			}
			w.pass(time.Second)
			client := w.dial()
			reply := client.run(find, e("batchSize", 1), preferring("secondary"))
			w.script("getMore", c.fault)
			o := client.outcomeOf(command("getMore", reply.Lookup("cursor", "id").Int64(), e("collection", "c")), preferring("secondary"))
			if n := len(w.answered("getMore")); o.Code != c.code || n != 1 {
				w.Errorf("%s: %d attempts, then %+v", name, n, o)
			}
		})
	}
}

// A getMore goes to the member of its cursor, whatever the preference of it or of the reads between.
func TestAGetMoreGoesToTheMemberOfItsCursor(t *testing.T) {
	inSet(t, 3, nil, func(w *world) {
		if err := w.set.Insert("app.c", bson.D{}, bson.D{}, bson.D{}); err != nil {
			w.Fatal(err)
		}
		w.pass(time.Second)
		for _, more := range [][]bson.E{nil, {preferring("primary")}, {preferring("nearest")}} {
			client := w.dial()
			reply := client.run(find, e("batchSize", 1), preferring("secondary"))
			opened := w.last("find")
			client.read()
			client.must(command("getMore", reply.Lookup("cursor", "id").Int64(), e("collection", "c")), more...)
			if got := w.last("getMore"); got != opened {
				w.Errorf("%v: the cursor is at member %d, the getMore went to %d", more, opened, got)
			}
		}
	})
}

// "No matching member: in a request, an immediate error with the 2014 wording, made without any network use or refresh."
func TestWithoutAMatchingMemberAReadFailsAtOnce(t *testing.T) {
	tags := e("tags", bson.A{bson.D{e("dc", "east"), e("rack", "1")}})
	for want, c := range map[string]struct {
		preference bson.E
		kill       []int
	}{
		"No replica set secondary available for query with ReadPreference SECONDARY": {preferring("secondary"), []int{1, 2}},
		"No replica set members available for query":                                 {preferring("nearest"), []int{0, 1, 2}},
		"No replica set member available for query with ReadPreference SECONDARY_PREFERRED and tags [{dc: east, rack: 1}]": {
			preferring("secondaryPreferred", tags), []int{0, 1},
		},
		"No replica set member available for query with ReadPreference NEAREST and tags [{dc: north}]": {
			preferring("nearest", taggedDC("north")), nil,
		},
		"No replica set member available for query with ReadPreference PRIMARY_PREFERRED and tags [{dc: north}, {dc: south}]": {
			preferring("primaryPreferred", taggedDC("north", "south")), []int{0, 1},
		},
		"No replica set member available for query with ReadPreference SECONDARY and tags [{dc: north}]": {preferring("secondary", taggedDC("north")), nil},
	} {
		t.Run(want, func(t *testing.T) {
			inSet(t, 3, []mongotest.Option{mongotest.ElectionTimeout(time.Hour), mongotest.Member(0, mongotest.Priority(2))}, func(w *world) {
				client := w.dial()
				for _, member := range c.kill {
					w.set.Kill(member)
				}
				w.pass(time.Minute)
				before, began := w.set.Counters(), time.Now()
				o := client.outcomeOf(find, c.preference)
				if o != (outcome{Code: 133, CodeName: "FailedToSatisfyReadPreference", Text: want}) {
					w.Errorf("%+v", o)
				}
				after := w.set.Counters()
				if time.Since(began) != 0 || after.Commands["hello"] != before.Commands["hello"] || after.Opened != before.Opened {
					w.Errorf("after %v: %v, before: %v", time.Since(began), after, before)
				}
			})
		})
	}
}

// A read with primary waits for one, as an operation of `pin: operation` waits for its member.
func TestAReadThatWaits(t *testing.T) {
	operation := func(c *router.Config) { c.PinOperation = true }
	window := func(c *router.Config) { c.Window = 5 * time.Second }
	for name, c := range map[string]struct {
		preference []bson.E
		change     []func(*router.Config)
		election   time.Duration
		code       int32
		takes      time.Duration // at least
	}{
		"primary":                         {[]bson.E{preferring("primary")}, nil, 2 * time.Second, 0, time.Second},
		"without a preference":            {nil, nil, 2 * time.Second, 0, time.Second},
		"the window ends":                 {nil, nil, time.Hour, 133, 20 * time.Second},
		"a window of five seconds":        {nil, []func(*router.Config){window}, time.Hour, 133, 5 * time.Second},
		"another mode, operation by each": {[]bson.E{preferring("secondary", taggedDC("north"))}, []func(*router.Config){operation, window}, time.Hour, 133, 5 * time.Second},
		"another mode does not wait":      {[]bson.E{preferring("secondary", taggedDC("north"))}, []func(*router.Config){window}, time.Hour, 133, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inSet(t, 3, []mongotest.Option{mongotest.ElectionTimeout(c.election)}, func(w *world) {
				client := w.dial()
				w.set.Kill(w.set.Primary())
				w.pass(500 * time.Millisecond)
				began := time.Now()
				o := client.outcomeOf(find, c.preference...)
				took := time.Since(began)
				if c.preference == nil && c.code != 0 && !strings.Contains(o.Text, "No replica set primary available for query with ReadPreference PRIMARY") {
					w.Errorf("the text is %s", o.Text)
				}
				if o.Code != c.code || took < c.takes || c.takes == 0 && took != 0 || c.code != 0 && took > c.takes {
					w.Errorf("after %v: %+v", took, o)
				}
			}, c.change...)
		})
	}
}

// Before it has looked at all members for the first time, the router cannot know that none matches.
func TestBeforeTheFirstDiscoveryAReadWaits(t *testing.T) {
	inSet(t, 3, nil, func(w *world) {
		synctest.Wait() // Serve has the listener: it would close it later
		w.router.Close()
		for _, hello := range []string{"hello", "isMaster"} {
			defer w.set.Use(hello, mongotest.Always(mongotest.Fault{Delay: 3 * time.Second}))()
		}
		r := w.start(address, router.Config{Upstream: w.upstream()})
		defer r.Close()
		began := time.Now()
		w.dial().must(find, preferring("secondary"))
		if took := time.Since(began); took < 3*time.Second {
			w.Errorf("the read took %v", took)
		}
	})
}

func TestWithoutRetryReadsNothingIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fault mongotest.Fault
		code  int32
	}{
		"a socket error":         {loseRequest, 6},
		"another retryable code": {errorReply(89), 89},
	} {
		inSet(t, 3, nil, func(w *world) {
			client := w.dial()
			w.script("find", c.fault)
			if o := client.outcomeOf(find, preferring("nearest")); o.Code != c.code || len(w.answered("find")) != 1 {
				w.Errorf("%s: the members %v, then %+v", name, w.answered("find"), o)
			}
		}, func(c *router.Config) { c.Upstream.SetRetryReads(false) })
	}
}
