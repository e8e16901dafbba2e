package couchbasetest_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestAFaultHappensToARequest(t *testing.T) {
	for _, test := range []struct {
		name    string
		fault   couchbasetest.Fault
		status  memd.Status
		closed  bool
		partial int           // bytes of the reply that come before the end
		took    time.Duration // until the reply or the end
		applied bool
		entry   func(*couchbasetest.Entry) bool
	}{
		{"none", couchbasetest.Fault{}, 0, false, 0, 0, true, func(e *couchbasetest.Entry) bool { return !e.RequestLost && !e.ReplyLost }},
		{"a delay", couchbasetest.Fault{Delay: time.Second}, 0, false, 0, time.Second, true, func(*couchbasetest.Entry) bool { return true }},
		{"a delay of the reply", couchbasetest.Fault{ReplyDelay: time.Second}, 0, false, 0, time.Second, true, func(*couchbasetest.Entry) bool { return true }},
		{"a lost request", couchbasetest.Fault{LoseRequest: true}, 0, true, 0, 0, false, func(e *couchbasetest.Entry) bool { return e.RequestLost && e.ReplyLost }},
		{"a lost reply", couchbasetest.Fault{LoseReply: true}, 0, true, 0, 0, true, func(e *couchbasetest.Entry) bool { return !e.RequestLost && e.ReplyLost }},
		{"half a frame", couchbasetest.Fault{LoseReply: true, CutReplyAfter: 12}, 0, true, 12, 0, true, func(e *couchbasetest.Entry) bool { return e.ReplyLost }},
		{"a status", couchbasetest.Fault{Status: memd.StatusTemporaryFailure}, memd.StatusTemporaryFailure, false, 0, 0, false, func(e *couchbasetest.Entry) bool { return e.RequestLost && e.Status == memd.StatusTemporaryFailure }},
		{"a status after the execution", couchbasetest.Fault{StatusAfter: memd.StatusNotMyVBucket}, memd.StatusNotMyVBucket, false, 0, 0, true, func(e *couchbasetest.Entry) bool { return !e.RequestLost && e.Applied }},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				c.Use(memd.OpSet, couchbasetest.OnKey("k", couchbasetest.FaultOnce(test.fault)))
				cl := open(t, c, 0)
				cl.ok(doc(memd.OpSet, "other", "1"))
				start := time.Now()
				if test.closed {
					cl.send(doc(memd.OpSet, "k", "1"))
					if b, err := io.ReadAll(cl.nc); err != nil || len(b) != test.partial {
						t.Errorf("%d bytes came before the end %v, want %d", len(b), err, test.partial)
					}
				} else {
					cl.status(doc(memd.OpSet, "k", "1"), test.status)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if _, there := c.Document("default", "k"); there != test.applied {
					t.Errorf("the document is there: %t, want %t", there, test.applied)
				}
				wait(time.Millisecond) // the journal is complete after the end of the connection
				journal := c.Journal()
				if e := &journal[len(journal)-1]; e.Key != "k" || e.Applied != test.applied || !test.entry(e) {
					t.Errorf("the journal says %v", e)
				}
				again := open(t, c, 0)
				again.ok(doc(memd.OpSet, "k", "2"))
			})
		})
	}
}

// A client would take the next reply for the rest of the one that was cut off: of 20 bytes and 4 others it makes a CAS.
func TestNothingFollowsAReplyThatWasCutOff(t *testing.T) {
	for name, silent := range map[string]bool{"and closed": false, "and silent": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				c.Use(memd.OpSet, couchbasetest.OnKey("cut", couchbasetest.FaultOnce(couchbasetest.Fault{
					After: func() { c.Pause(0) }, LoseReply: true, CutReplyAfter: 20, Silent: silent,
				})))
				c.Use(memd.OpSet, couchbasetest.OnKey("next", couchbasetest.FaultOnce(couchbasetest.Fault{ReplyDelay: time.Second})))
				cl := open(t, c, 0, append([]memd.Feature{memd.FeatureUnorderedExecution}, modern...)...)
				cl.send(doc(memd.OpSet, "next", "1"))
				cl.send(doc(memd.OpSet, "cut", "1"))
				wait(2 * time.Second)
				c.Resume(0)
				cl.nc.SetReadDeadline(time.Now().Add(time.Hour))
				if b, _ := io.ReadAll(cl.nc); len(b) != 20 {
					t.Errorf("%d bytes came, want 20: % x", len(b), b)
				}
				cl.nc.Close()
				wait(time.Millisecond)
				for _, e := range c.Journal() {
					if !e.Applied || !e.ReplyLost {
						t.Errorf("the journal says %v, want applied and reply-lost", &e)
					}
				}
			})
		})
	}
}

func TestASilentConnectionStaysOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.Use(memd.OpSet, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true, Silent: true}))
		cl := open(t, c, 0)
		cl.send(doc(memd.OpSet, "k", "1"))
		cl.send(doc(memd.OpGet, "k", ""))
		cl.nc.SetReadDeadline(time.Now().Add(time.Hour))
		start := time.Now()
		if _, err := cl.next(); err == nil || time.Since(start) != time.Hour {
			t.Errorf("after %v: %v; want nothing for an hour", time.Since(start), err)
		}
		if n := c.Applied(memd.OpSet, "k"); n != 1 {
			t.Errorf("the write was applied %d times, want once", n)
		}
	})
}

func TestFaultsEndByNumberAndByTime(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		busy := couchbasetest.Fault{Status: memd.StatusBusy}
		remove := c.Use(memd.OpSet, couchbasetest.Always(busy))
		cl.status(doc(memd.OpSet, "k", "1"), memd.StatusBusy)
		remove()
		remove = c.Use(memd.OpSet, couchbasetest.Times(2, busy))
		for _, want := range []memd.Status{memd.StatusBusy, memd.StatusBusy, 0} {
			cl.status(doc(memd.OpSet, "k", "1"), want)
		}
		remove()
		c.Use(couchbasetest.AnyOpcode, couchbasetest.For(time.Second, busy))
		for _, s := range []struct {
			after time.Duration
			want  memd.Status
		}{{0, memd.StatusBusy}, {900 * time.Millisecond, memd.StatusBusy}, {100 * time.Millisecond, 0}} {
			wait(s.after)
			cl.status(doc(memd.OpGet, "k", ""), s.want)
		}
		cl.ok(memd.Packet{Opcode: memd.OpNoop})
		counted := c.Counters().Requests
		if counted[memd.OpSet] != 4 || counted[memd.OpGet] != 3 {
			t.Errorf("the counters say %v, want 4 SETs and 3 GETs", counted)
		}
	})
}

func TestMiddlewareCanAnswerWithAnything(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.Use(0xee, func(*couchbasetest.Request, couchbasetest.Handler) *couchbasetest.Reply {
			return &couchbasetest.Reply{Status: 0xff42, Value: []byte("mine")}
		})
		c.Use(memd.OpNoop, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			reply := next(r)
			reply.Opaque = 77
			return reply
		})
		cl := open(t, c, 0)
		if reply := cl.status(memd.Packet{Opcode: 0xee}, 0xff42); string(reply.Value) != "mine" {
			t.Errorf("the value is %q", reply.Value)
		}
		cl.send(memd.Packet{Opcode: memd.OpNoop})
		if reply := cl.receive(); reply.Opaque != 77 {
			t.Errorf("the opaque is %d, want 77", reply.Opaque)
		}
	})
}

func TestTheErrorMapCanHaveMoreEntries(t *testing.T) {
	for _, test := range []struct {
		version string
		want    int
	}{{"6.6", 1}, {"8.0", 2}} {
		inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
			c.SetErrorMapEntry(0xff42, "MINE", "mine", memd.AttributeRetryLater)
			m, err := memd.ParseErrorMap(dial(t, c, 0).ok(memd.Packet{Opcode: memd.OpGetErrorMap, Value: []byte{0, 2}}).Value)
			if err != nil || m.Version != test.want {
				t.Fatalf("the error map of %s has the version %d, %v; want %d", test.version, m.Version, err, test.want)
			}
			if e, ok := m.Entry(0xff42); !ok || !e.Retryable() {
				t.Errorf("the entry is %+v", e)
			}
			if e, ok := m.Entry(memd.StatusLocked); !ok || !slices.Contains(e.Attributes, memd.AttributeRetryNow) {
				t.Errorf("the entry of locked documents is %+v", e)
			}
		}, couchbasetest.Version(test.version))
	}
}

func TestRepliesComeInAnyOrderOnlyIfTheClientAsked(t *testing.T) {
	for _, test := range []struct {
		name     string
		features []memd.Feature
		frames   []byte
		want     []uint32
	}{
		{"asked", append([]memd.Feature{memd.FeatureUnorderedExecution}, modern...), nil, []uint32{2, 1}},
		{"not asked", modern, nil, []uint32{1, 2}},
		{"asked, and a barrier", append([]memd.Feature{memd.FeatureUnorderedExecution}, modern...), []byte{0}, []uint32{1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				c.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: time.Second}))
				cl := open(t, c, 0, test.features...)
				first := cl.opaque
				cl.send(doc(memd.OpGet, "k", ""))
				cl.send(with(doc(memd.OpGet, "l", ""), func(p *memd.Packet) { p.Frames = test.frames }))
				got := []uint32{cl.receive().Opaque - first, cl.receive().Opaque - first}
				if !slices.Equal(got, test.want) {
					t.Errorf("the replies came in the order %v, want %v", got, test.want)
				}
			})
		})
	}
}
