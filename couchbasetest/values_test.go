package couchbasetest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestCommandsChangeTheValue(t *testing.T) {
	counter := func(op memd.Opcode, delta uint64) memd.Packet {
		return with(doc(op, "k", ""), func(p *memd.Packet) { p.Extras = memd.AppendCounter(nil, memd.Counter{Delta: delta, Initial: 5}) })
	}
	for _, test := range []struct {
		name     string
		requests []memd.Packet
		want     string
	}{
		{"APPEND", []memd.Packet{doc(memd.OpSet, "k", "1"), doc(memd.OpAppend, "k", "2")}, "12"},
		{"PREPEND", []memd.Packet{doc(memd.OpSet, "k", "1"), doc(memd.OpPrepend, "k", "2")}, "21"},
		{"INCREMENT creates", []memd.Packet{counter(memd.OpIncrement, 3)}, "5"},
		{"INCREMENT adds", []memd.Packet{counter(memd.OpIncrement, 3), counter(memd.OpIncrement, 3)}, "8"},
		{"DECREMENT subtracts", []memd.Packet{counter(memd.OpDecrement, 3), counter(memd.OpDecrement, 3)}, "2"},
		{"DECREMENT stops at zero", []memd.Packet{counter(memd.OpDecrement, 3), counter(memd.OpDecrement, 9)}, "0"},
		{"INCREMENT wraps", []memd.Packet{doc(memd.OpSet, "k", "18446744073709551615"), counter(memd.OpIncrement, 2)}, "1"},
		{"a compressed value", []memd.Packet{with(doc(memd.OpSet, "k", ""), func(p *memd.Packet) {
			p.Value, _ = memd.Deflate([]byte(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`), 0, 1)
			p.DataType = memd.DataSnappy
		})}, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0, append([]memd.Feature{memd.FeatureSnappy}, modern...)...)
				for _, p := range test.requests {
					cl.ok(p)
				}
				if d, _ := c.Document("default", "k"); string(d.Value) != test.want {
					t.Errorf("the document is %s, want %s", d.Value, test.want)
				}
				reply := cl.ok(doc(memd.OpGet, "k", ""))
				value, compressed := reply.Value, reply.DataType&memd.DataSnappy != 0
				if compressed {
					var err error
					if value, err = memd.Inflate(value); err != nil {
						t.Fatal(err)
					}
				}
				if string(value) != test.want || compressed != (test.name == "a compressed value") {
					t.Errorf("GET answers %s, compressed: %t", value, compressed)
				}
			})
		})
	}
}

func TestObserveSaysWhatANodeHas(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		vb := memd.VBucket([]byte("k"), vbuckets)
		ask := memd.Packet{Opcode: memd.OpObserve, Value: memd.AppendObserveKey(nil, vb, []byte("\x00k"))}
		active, replica := owner(t, c, "k"), open(t, c, c.Owners("default", "k")[1])
		state := func(cl *client) memd.KeyState {
			s, _, err := memd.ParseObserved(cl.ok(ask).Value)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		check := func(after time.Duration, wantActive, wantReplica memd.KeyState) {
			t.Helper()
			wait(after)
			if a, r := state(active), state(replica); a != wantActive || r != wantReplica {
				t.Errorf("the active node has %#x and the replica %#x, want %#x and %#x", a, r, wantActive, wantReplica)
			}
		}
		check(0, memd.KeyNotFound, memd.KeyNotFound)
		active.ok(doc(memd.OpSet, "k", "1"))
		check(0, memd.KeyInMemory, memd.KeyNotFound)
		check(100*time.Millisecond, memd.KeyInMemory, memd.KeyInMemory)
		check(200*time.Millisecond, memd.KeyPersisted, memd.KeyPersisted)
		active.ok(doc(memd.OpDelete, "k", ""))
		check(0, memd.KeyNotFound, memd.KeyPersisted)
		check(300*time.Millisecond, memd.KeyDeletedPersisted, memd.KeyDeletedPersisted)
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(100*time.Millisecond), couchbasetest.PersistenceLag(300*time.Millisecond))
}
