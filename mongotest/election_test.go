package mongotest_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// elected returns who is primary and after how long, counted from now.
func elected(t *testing.T, rs *mongotest.Deployment) (int, time.Duration) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return must[int](t)(rs.WaitPrimary(ctx)), time.Since(began)
}

// between reports whether an election came in time: after the timeout, and up to 15 % later.
func between(d, timeout time.Duration) bool { return d >= timeout && d <= timeout*115/100 }

func priority(i int, p float64) mongotest.Option { return mongotest.Member(i, mongotest.Priority(p)) }

func TestAnElectionComesAfterTheTimeoutAndAnOffsetOfTheSeed(t *testing.T) {
	seen := make(map[time.Duration]bool)
	run := func(seed int64) (p int, took time.Duration) {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			rs.Kill(0)
			p, took = elected(t, rs)
		}, mongotest.Seed(seed))
		return p, took
	}
	for seed := range int64(8) {
		p, took := run(seed)
		if again, tookAgain := run(seed); again != p || tookAgain != took {
			t.Errorf("seed %d: member %d after %v, and again member %d after %v", seed, p, took, again, tookAgain)
		}
		if !between(took, 10*time.Second) {
			t.Errorf("seed %d: it took %v", seed, took)
		}
		seen[took] = true
	}
	if len(seen) < 6 {
		t.Errorf("8 seeds have %d different times", len(seen))
	}
}

func TestWhoIsElected(t *testing.T) {
	arbiter := mongotest.Member(2, mongotest.Arbiter())
	mute := func(i int) mongotest.Option { return mongotest.Member(i, mongotest.Votes(0), mongotest.Priority(0)) }
	for _, test := range []struct {
		rule    string
		trouble func(t *testing.T, rs *mongotest.Deployment)
		want    int // -1 for nobody
		opts    []mongotest.Option
		members int // 3 if it is 0
	}{
		{"a member of priority 0 is not", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(0) }, 2, []mongotest.Option{priority(1, 0)}, 0},
		{"an arbiter is not, but votes", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(0) }, 1, []mongotest.Option{arbiter}, 0},
		{"without the arbiter there is no majority", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(0); rs.Kill(2) }, -1, []mongotest.Option{arbiter}, 0},
		{
			"members without votes make no majority", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(0); rs.Kill(1) }, -1,
			[]mongotest.Option{mute(3), mute(4)},
			5,
		},
		{
			"and need not be there for one", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(0); rs.Kill(3); rs.Kill(4) }, 1,
			[]mongotest.Option{mute(3), mute(4), priority(2, 0)},
			5,
		},
		{
			"who lacks what a majority has is not", func(t *testing.T, rs *mongotest.Deployment) {
				rs.SetLag(2, time.Hour)
				dial(t, rs, 0).ok(`%s}`, inc)
				rs.Kill(0)
			}, 1, nil, 0,
		},
		{"the highest priority is at last", func(_ *testing.T, rs *mongotest.Deployment) { rs.Kill(0); rs.Restart(0); pass(time.Minute) }, 0, []mongotest.Option{priority(0, 2)}, 0},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubbleOf(t, cmp.Or(test.members, 3), func(t *testing.T, rs *mongotest.Deployment) {
				dial(t, rs, 0).ok(`%s}`, inc)
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				test.trouble(t, rs)
				pass(time.Minute)
				if p := rs.Primary(); p != test.want {
					t.Errorf("the primary is %d, want %d:\n%s", p, test.want, rs.Dump())
				}
			}, test.opts...)
		})
	}
}

func TestTheHighestPriorityTakesOver(t *testing.T) {
	for _, test := range []struct {
		rule    string
		restart int
		took    time.Duration
	}{
		{"the highest after one timeout", 0, 10 * time.Second},
		{"the second after two", 1, 20 * time.Second},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubbleOf(t, 5, func(t *testing.T, rs *mongotest.Deployment) {
				rs.Kill(0)
				rs.Kill(1)
				elected(t, rs)
				c := dial(t, rs, 2)
				rs.Restart(test.restart)
				began := time.Now()
				for rs.Primary() == 2 && time.Since(began) < time.Minute {
					c.run(`%s, "writeConcern": {"w": 1}}`, inc)
					pass(10 * time.Millisecond)
				}
				if took := time.Since(began); rs.Primary() != test.restart || !between(took-10*time.Millisecond, test.took) {
					t.Errorf("member %d is primary after %v, want %d after %v and an offset", rs.Primary(), took, test.restart, test.took)
				}
				wrote := number(c.ok(`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`), "cursor", "firstBatch", "0", "n")
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				if n := lastN(rs); n != wrote || n < 500 {
					t.Errorf("n = %d, want %d: a takeover loses nothing", n, wrote)
				}
			}, priority(0, 3), priority(1, 2), priority(3, 0), mongotest.Member(4, mongotest.Arbiter()))
		})
	}
}

func TestNobodyTakesOverWhoIsFarBehind(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Kill(0)
		p, _ := elected(t, rs)
		pass(3 * time.Second)
		dial(t, rs, p).ok(`%s}`, inc)
		rs.SetLag(0, time.Hour)
		rs.Restart(0)
		pass(5 * time.Minute)
		if now := rs.Primary(); now != p {
			t.Errorf("member %d took over from %d", now, p)
		}
		rs.SetLag(0, 0)
		pass(12 * time.Second)
		if now := rs.Primary(); now != 0 {
			t.Errorf("once it has caught up the primary is %d, want 0", now)
		}
	}, priority(0, 2))
}

func TestAPrimaryCutOffTakesWritesUntilItStepsDown(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		rs.Partition([]int{0}, []int{1, 2})
		pass(500 * time.Millisecond)
		acknowledged := 0
		for range 12 {
			if number(c.run(`%s, "writeConcern": {"w": 1}}`, inc), "ok") == 1 {
				acknowledged++
			}
			pass(time.Second)
		}
		if acknowledged != 10 {
			t.Errorf("%d writes were acknowledged, one each second of the election timeout should be", acknowledged)
		}
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		if n := lastN(rs); n != 0 {
			t.Errorf("n = %d, want 0", n)
		}
	})
}

func TestPartitionOneWay(t *testing.T) {
	both := func(rs *mongotest.Deployment, from, to int) {
		rs.PartitionOneWay(from, to)
		rs.PartitionOneWay(to, from)
	}
	for _, test := range []struct {
		rule string
		cut  func(rs *mongotest.Deployment)
		when time.Duration // of what follows
		want int           // the primary then
		term int64
		old  bool // member 0 still takes writes then
	}{
		{
			"nobody hears the primary: it steps down as it hears of the next one",
			func(rs *mongotest.Deployment) { rs.PartitionOneWay(0, 1); rs.PartitionOneWay(0, 2) }, 12 * time.Second, 1, 2, false,
		},
		{
			"the primary hears nobody: it steps down by itself",
			func(rs *mongotest.Deployment) { rs.PartitionOneWay(1, 0); rs.PartitionOneWay(2, 0) }, 12 * time.Second, 1, 2, false,
		},
		{
			"a secondary that hears nobody disturbs nobody",
			func(rs *mongotest.Deployment) { rs.PartitionOneWay(0, 2); rs.PartitionOneWay(1, 2) }, time.Minute, 0, 1, true,
		},
		{
			"a secondary that nobody hears disturbs nobody",
			func(rs *mongotest.Deployment) { rs.PartitionOneWay(2, 0); rs.PartitionOneWay(2, 1) }, time.Minute, 0, 1, true,
		},
		{
			"a secondary that reaches another one needs no primary of its own",
			func(rs *mongotest.Deployment) { both(rs, 0, 2) }, time.Minute, 0, 1, true,
		},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				test.cut(rs)
				pass(test.when)
				if p, term := rs.Primary(), rs.Term(); p != test.want || term != test.term {
					t.Errorf("the primary is %d in term %d, want %d in term %d", p, term, test.want, test.term)
				}
				reply := dial(t, rs, 0).run(`%s, "writeConcern": {"w": 1}}`, inc)
				if old := number(reply, "ok") == 1; old != test.old {
					t.Errorf("the first primary answers a write with %v", reply)
				}
			}, priority(2, 0))
		})
	}
}

func TestASecondaryReplicatesFromAnother(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.PartitionOneWay(2, 0)
		c := dial(t, rs, 0)
		reply := c.ok(`%s, "writeConcern": {"w": 3, "wtimeout": 1000}}`, inc)
		if number(reply, "writeConcernError", "code") != -1 {
			t.Errorf("w:3 is answered %v", reply)
		}
		status := dial(t, rs, 2).ok(`{"replSetGetStatus": 1, "$db": "admin"}`)
		if source := status.Lookup("syncSourceHost").StringValue(); source != rs.Addr(1) {
			t.Errorf("it fetches from %s, want %s", source, rs.Addr(1))
		}
		got := dial(t, rs, 2).ok(`{"find": "c", "readConcern": {"level": "majority"}, "$db": "test", "$readPreference": {"mode": "nearest"}}`)
		if number(got, "cursor", "firstBatch", "0", "n") != 1 {
			t.Errorf("it has %v", got)
		}
		rs.PartitionOneWay(1, 2)
		if reply := c.ok(`%s, "writeConcern": {"w": 3, "wtimeout": 1000}}`, inc); number(reply, "writeConcernError", "code") != 64 {
			t.Errorf("w:3 without the other one is answered %v", reply)
		}
	})
}

func TestSetLag(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		for _, test := range []struct {
			member  int
			lag     time.Duration
			concern string
			took    time.Duration
		}{
			{2, 300 * time.Millisecond, `{"w": "majority"}`, 0},
			{2, 300 * time.Millisecond, `{"w": 3}`, 300 * time.Millisecond},
			{1, 200 * time.Millisecond, `{"w": "majority"}`, 200 * time.Millisecond},
			{1, -1, `{"w": "majority"}`, 0},
		} {
			rs.SetLag(test.member, test.lag)
			began := time.Now()
			c.ok(`%s, "writeConcern": %s}`, inc, test.concern)
			if took := time.Since(began); took != test.took {
				t.Errorf("member %d lags %v: %s took %v, want %v", test.member, test.lag, test.concern, took, test.took)
			}
		}
		rs.SetLag(2, time.Hour)
		c.ok(`%s}`, inc)
		time.AfterFunc(time.Second, func() { rs.SetLag(2, 0) })
		began := time.Now()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		if took := time.Since(began); took != time.Second {
			t.Errorf("after the lag ended it took %v", took)
		}
	})
}

func TestASetOfOneNeedsNobody(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`%s}`, inc)
		c.ok(`{"replSetStepDown": 30, "force": true, "$db": "admin"}`)
		if p, took := elected(t, rs); p != 0 || took != 30*time.Second {
			t.Errorf("member %d is elected after %v, want 0 as its 30 seconds end", p, took)
		}
		rs.Kill(0)
		rs.Restart(0)
		if _, took := elected(t, rs); took != 0 || lastN(rs) != 1 {
			t.Errorf("after a restart it took %v, and n = %d", took, lastN(rs))
		}
	})
}

// TestStatusOfMembers checks what replSetGetStatus says of each member, the one that is asked, others, and one that is down.
func TestStatusOfMembers(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 1)
		pass(5 * time.Second)
		rs.Kill(2)
		began := time.Now().Add(-5 * time.Second)
		seconds, date := fmt.Sprint(began.Unix()), func(d time.Duration) string {
			return fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, began.Add(d).UnixMilli())
		}
		list := elements(c.ok(`{"replSetGetStatus": 1, "$db": "admin"}`).Lookup("members"))
		heartbeat := `"lastHeartbeat": ` + date(4*time.Second) + `,"lastHeartbeatRecv": ` + date(4*time.Second) + `,"pingMs": {"$numberLong":"0"},"lastHeartbeatMessage": "",`
		for i, want := range []string{
			`"uptime": {"$numberInt":"5"},"optime": {"ts": {"$timestamp":{"t":` + seconds + `,"i":1}},"t": {"$numberLong":"1"}},"optimeDurable": {"ts": {"$timestamp":{"t":` + seconds +
				`,"i":1}},"t": {"$numberLong":"1"}},"optimeDate": ` + date(0) + `,"optimeDurableDate": ` + date(0) + `,` + heartbeat +
				`"syncSourceHost": "","syncSourceId": {"$numberInt":"-1"},"infoMessage": "","electionTime": {"$timestamp":{"t":` + seconds + `,"i":1}},"electionDate": ` + date(0) +
				`,"configVersion": {"$numberInt":"1"},"configTerm": {"$numberInt":"1"}}`,
			`"optimeDate": ` + date(0) + `,"syncSourceHost": "` + rs.Addr(0) + `","syncSourceId": {"$numberInt":"0"},"infoMessage": "",` +
				`"configVersion": {"$numberInt":"1"},"configTerm": {"$numberInt":"1"},"self": true,"lastHeartbeatMessage": ""}`,
			`"health": {"$numberDouble":"0.0"},"state": {"$numberInt":"8"},"stateStr": "(not reachable/healthy)","uptime": {"$numberInt":"0"},` +
				`"optime": {"ts": {"$timestamp":{"t":0,"i":0}},"t": {"$numberLong":"-1"}},`,
		} {
			if got := list[i].String(); !strings.Contains(got, want) {
				t.Errorf("member %d is\n%s\nwant in it\n%s", i, got, want)
			}
		}
		if got := list[2]; number(got, "configVersion") != -1 || number(got, "configTerm") != -1 || got.Lookup("lastHeartbeatMessage").StringValue() == "" {
			t.Errorf("the one that is down is %s", got)
		}
	})
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		members := elements(dial(t, rs, 0).ok(`{"replSetGetStatus": 1, "$db": "admin"}`).Lookup("members"))
		if _, err := members[0].LookupErr("configTerm"); err == nil {
			t.Errorf("a configuration had a term before 4.4: %s", members[0])
		}
	}, mongotest.Version("4.2"))
}
