package mongo_test

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func (w *world) lsids(command string) []string {
	var out []string
	for _, ev := range w.started(command) {
		out = append(out, ev.Command.Lookup("lsid").String())
	}
	return out
}

// Sessions, "Server Session Pool": a session is not used again when less than a minute is left of the server's memory.
func TestASessionIsUsedAgainUntilAMinuteBeforeTheServerForgetsIt(t *testing.T) {
	const memory = 30 * time.Minute // logicalSessionTimeoutMinutes
	for _, c := range []struct {
		rest time.Duration
		same bool
	}{{memory - time.Minute, true}, {memory - time.Minute + 1, false}} {
		in(t, nil, func(w *world) {
			w.must(findOneOrNone(w))
			w.pass(c.rest)
			w.must(findOneOrNone(w))
			if s := w.lsids("find"); (s[0] == s[1]) != c.same {
				t.Errorf("after %v the session is the same: %v", c.rest, !c.same)
			}
		})
	}
}

// Each use counts anew.
func TestASessionThatIsUsedLivesOn(t *testing.T) {
	in(t, nil, func(w *world) {
		for range 4 {
			w.must(findOneOrNone(w))
			w.pass(20 * time.Minute)
		}
		if s := w.lsids("find"); s[0] != s[1] || s[1] != s[2] || s[2] != s[3] {
			t.Errorf("the sessions are %v", s)
		}
	})
}

func findOneOrNone(w *world) error {
	if err := findOne(w); err != mongo.ErrNoDocuments { //nolint:errorlint // never wrapped
		return err
	}
	return nil
}

// A cursor keeps its session from its query to its end, and others cannot have it meanwhile.
func TestACursorKeepsItsSession(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.must(writes[0].do(w.ctx, w.coll))
		w.forget()
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
		w.must(err)
		w.must(updateOne(w))
		for cursor.Next(w.ctx) {
		}
		w.must(cursor.Err())
		w.must(updateOne(w))
		find, more, update := w.lsids("find"), w.lsids("getMore"), w.lsids("update")
		if len(more) == 0 || find[0] != more[0] || update[0] == find[0] || update[1] != find[0] {
			t.Errorf("the query's session is %v, that of getMore %v, those of the updates %v", find, more, update)
		}
	})
}

// Sessions, "endSessions": on Disconnect, at most 10,000 in one command; nothing if there are none.
func TestDisconnectEndsTheSessions(t *testing.T) {
	for _, c := range []struct {
		sessions int
		want     []int
	}{{0, nil}, {1, []int{1}}, {10_001, []int{10_000, 1}}} {
		in(t, nil, func(w *world) {
			w.seed()
			w.must(writes[0].do(w.ctx, w.coll))
			w.reconnect()
			cursors := make([]*mongo.Cursor, c.sessions)
			for i := range cursors {
				var err error
				cursors[i], err = w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
				w.must(err)
			}
			for _, cursor := range cursors {
				w.must(cursor.Close(w.ctx))
			}
			w.forget()
			w.reconnect()
			var got []int
			for _, ev := range w.started("endSessions") {
				ids, err := ev.Command.Lookup("endSessions").Array().Values()
				w.must(err)
				got = append(got, len(ids))
				if ev.DatabaseName != "admin" {
					w.Errorf("the command is sent to %s", ev.DatabaseName)
				}
				for _, field := range []string{"lsid", "txnNumber", "maxTimeMS"} {
					if _, err := ev.Command.LookupErr(field); err == nil {
						w.Errorf("endSessions has %s", field)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				w.Errorf("sessions in each command: %v, want %v", got, c.want)
			}
		})
	}
}

// reconnect disconnects the client and makes another one.
func (w *world) reconnect() {
	w.Helper()
	w.must(w.client.Disconnect(w.ctx))
	var err error
	w.client, err = mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()).SetMonitor(w.monitor()))
	w.must(err)
	w.coll = w.client.Database("test").Collection("c")
}

// A server that hangs, or none at all, delays Disconnect by a second at most.
func TestDisconnectWaitsForASecondAtMost(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(w *world)
		want  time.Duration
	}{
		{"a server that does not answer", func(w *world) {
			w.script("endSessions", mongotest.Fault{LoseRequest: true, Silent: true})
		}, time.Second},
		{"no server", func(w *world) {
			for i := range w.set.Members() {
				w.set.Kill(i)
			}
			w.pass(20 * time.Second)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.must(findOneOrNone(w))
				c.fault(w)
				start := time.Now()
				w.reconnect()
				if took := time.Since(start); took != c.want {
					t.Errorf("it took %v, want %v", took, c.want)
				}
			})
		})
	}
}

// An unacknowledged write has no session and waits for no reply.
func TestAnUnacknowledgedWriteHasNoSession(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + "&w=0") }, func(w *world) {
		w.script("insert", mongotest.Fault{Delay: time.Hour})
		_, err := w.coll.InsertOne(w.ctx, doc("x", 1))
		w.must(err)
		ev := w.started("insert")[0]
		for _, field := range []string{"lsid", "txnNumber"} {
			if _, err := ev.Command.LookupErr(field); err == nil {
				t.Errorf("the command has %s", field)
			}
		}
		if got := ev.Command.Lookup("writeConcern").String(); got != bsonText(t, bson.D{{Key: "w", Value: int32(0)}}) {
			t.Errorf("the write concern is %s", got)
		}
		w.heal()
	})
}

// Sessions, "Algorithm to return a ServerSession instance to the server session pool": the sessions of a burst do not stay for
// ever, and one that comes back too late does not stay at all.
func TestSessionsThatTheServerForgetsDoNotStayInThePool(t *testing.T) {
	const memory = 30 * time.Minute // logicalSessionTimeoutMinutes
	in(t, nil, func(w *world) {
		var burst []*mongo.Session
		for range 100 {
			s, ctx := w.session()
			burst = append(burst, s)
			w.must(insertOne(ctx, w.coll))
		}
		late, ctx := w.session()
		w.must(insertOne(ctx, w.coll))
		for _, s := range burst {
			s.EndSession(w.ctx)
		}
		for range 8 { // the last session of the burst is used now and then
			w.pass(memory / 4)
			w.must(findOneOrNone(w))
		}
		late.EndSession(w.ctx)
		w.forget()
		w.reconnect()
		ended := w.started("endSessions")
		if len(ended) != 1 {
			t.Fatalf("%d endSessions", len(ended))
		}
		if ids, err := ended[0].Command.Lookup("endSessions").Array().Values(); err != nil || len(ids) != 1 {
			t.Errorf("%d sessions are ended, %v", len(ids), err)
		}
	})
}

// A standalone has no cluster time, also if the application has one of another deployment.
func TestAStandaloneGetsNoClusterTime(t *testing.T) {
	other, err := bson.Marshal(doc("$clusterTime", doc("clusterTime", bson.Timestamp{T: 1})))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		run  func() (*mongotest.Deployment, error)
		want bool
	}{"a standalone": {standalone, false}, "a replica set": {replicaSet, true}} {
		inside(t, c.run, nil, func(w *world) {
			s, ctx := w.session()
			defer s.EndSession(w.ctx)
			w.must(s.AdvanceClusterTime(other))
			w.must(w.client.Ping(ctx, nil))
			_, err := w.started("ping")[0].Command.LookupErr("$clusterTime")
			if sent := err == nil; sent != c.want {
				t.Errorf("%s: a $clusterTime was sent: %t", name, sent)
			}
		})
	}
}
