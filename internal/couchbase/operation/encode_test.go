package operation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// The server gets 90 % of the operation's timeout for a durable write, at least 1.5 s.
func TestTheFramesOfADurableWrite(t *testing.T) {
	for _, c := range []struct {
		timeout  time.Duration
		level    memd.DurabilityLevel
		preserve bool
		want     string
	}{
		{10 * time.Second, memd.DurabilityMajority, false, "13 01 23 28"},
		{2500 * ms, memd.DurabilityMajorityPersist, false, "13 02 08 ca"},
		{time.Second, memd.DurabilityPersistMajority, false, "13 03 05 dc"},
		{0, memd.DurabilityMajority, false, "11 01"},
		{time.Second, memd.DurabilityMajority, true, "13 01 05 dc 50"},
		{time.Second, 0, true, "50"},
		{time.Second, 0, false, ""},
	} {
		t.Run(fmt.Sprint(c.timeout, c.level, c.preserve), func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				q := w.increment(keyOf0)
				q.Durability, q.PreserveExpiry = c.level, c.preserve
				if _, err := w.within(context.Background(), c.timeout, q); err != nil {
					t.Fatal(err)
				}
				equal(t, "frames", fmt.Sprintf("% x", w.Log()[0].Request.Frames), c.want)
			})
		})
	}
}

func TestFeaturesThatTheServerLacks(t *testing.T) {
	without := func(lacking ...memd.Feature) setup {
		return func(w *world, _ *cluster.Config, _ *operation.Config) {
			for _, n := range w.nodes {
				n.Change(func() { n.Accept = withoutFeatures(lacking) })
			}
		}
	}
	for _, c := range []struct {
		name    string
		lacking memd.Feature
		change  func(q *operation.Operation)
	}{
		{"durability", memd.FeatureDurability, func(q *operation.Operation) { q.Durability = memd.DurabilityMajority }},
		{"framing extras, for durability", memd.FeatureFlexibleRequests, func(q *operation.Operation) { q.Durability = memd.DurabilityMajority }},
		{"preserving the expiry", memd.FeaturePreserveExpiry, func(q *operation.Operation) { q.PreserveExpiry = true }},
		{"framing extras, for the expiry", memd.FeatureFlexibleRequests, func(q *operation.Operation) { q.PreserveExpiry = true }},
		{"look-ups in documents on replicas", memd.FeatureReplicaLookup, func(q *operation.Operation) { q.Opcode, q.Replica = memd.OpSubdocMultiLookup, 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				q := w.increment(keyOf0)
				c.change(q)
				if _, err := w.do(q); !errors.Is(err, operation.ErrFeatureNotAvailable) || len(w.Log()) != 0 || err.Ambiguous {
					t.Errorf("%v, requests %v", err, w.requests())
				}
			}, without(c.lacking))
		})
	}
}

func TestWhereARequestGoes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(q *operation.Operation)
		host   string
		check  func(r memd.Packet) bool
	}{
		{"the active node", func(*operation.Operation) {}, "a", func(r memd.Packet) bool { return r.VBucket == 0 }},
		{"the active node of another vbucket", func(q *operation.Operation) { q.Key = keyOf1 }, "b", func(r memd.Packet) bool { return r.VBucket == 1 }},
		{"the first replica", func(q *operation.Operation) { q.Opcode, q.Replica = memd.OpGetReplica, 1 }, "b", func(r memd.Packet) bool { return r.VBucket == 0 && r.Key[0] == 0 }},
		{
			"OBSERVE has its key in the value, with the id of the collection", func(q *operation.Operation) { q.Opcode, q.Replica = memd.OpObserve, 1 }, "b",
			func(r memd.Packet) bool {
				return len(r.Key) == 0 && bytes.Equal(r.Value, memd.AppendObserveKey(nil, 0, append([]byte{0}, keyOf0...))) && r.VBucket == 0
			},
		},
		{
			"OBSERVE_SEQNO has no key, but a vbucket", func(q *operation.Operation) { q.Opcode, q.Key, q.VBucket = memd.OpObserveSeqno, nil, 1 }, "b",
			func(r memd.Packet) bool { return len(r.Key) == 0 && r.VBucket == 1 },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				q := w.get(keyOf0)
				c.change(q)
				if _, err := w.do(q); err != nil {
					t.Fatal(err)
				}
				if log := w.Log(); len(log) != 1 || log[0].Host != c.host || !c.check(log[0].Request) {
					t.Errorf("%+v", log)
				}
			})
		})
	}
}

func withoutFeatures(lacking []memd.Feature) []memd.Feature {
	var left []memd.Feature
	for _, f := range features() {
		if len(lacking) == 0 || f != lacking[0] {
			left = append(left, f)
		}
	}
	return left
}

func TestTheAnswersToSubDocumentCommands(t *testing.T) {
	failure := memd.AppendMutationFailure(nil, 1, memd.StatusPathExists)
	for _, c := range []struct {
		name   string
		opcode memd.Opcode
		status memd.Status
		value  []byte
		kind   error // nil: success
		index  int
	}{
		{"a look-up of which parts failed", memd.OpSubdocMultiLookup, memd.StatusMultiFailure, nil, nil, -1},
		{"a look-up in a deleted document", memd.OpSubdocMultiLookup, memd.StatusSuccessDeleted, nil, nil, -1},
		{"both", memd.OpSubdocMultiLookup, memd.StatusMultiFailureDeleted, nil, nil, -1},
		{"a mutation of a deleted document", memd.OpSubdocMultiMutation, memd.StatusSuccessDeleted, nil, nil, -1},
		{"a mutation of which a part failed", memd.OpSubdocMultiMutation, memd.StatusMultiFailure, failure, operation.ErrPathExists, 1},
		{"a mutation of a deleted document of which a part failed", memd.OpSubdocMultiMutation, memd.StatusMultiFailureDeleted, failure, operation.ErrPathExists, 1},
		{"a mutation whose failure cannot be read", memd.OpSubdocMultiMutation, memd.StatusMultiFailure, []byte{1}, operation.ErrInvalidArgument, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(string, int, memd.Packet) (answer, bool) { return answer{Status: c.status, Value: c.value}, true }, func(w *world) {
				q := w.increment(keyOf0)
				q.Opcode, q.Extras = c.opcode, nil
				r, err := w.do(q)
				switch {
				case c.kind == nil && (err != nil || r.Packet.Status != c.status):
					t.Errorf("%v, %v", r, err)
				case c.kind != nil && (!errors.Is(err, c.kind) || err.SpecIndex != c.index || !bytes.Equal(err.Answer, c.value)):
					t.Errorf("%v, index %d", err, err.SpecIndex)
				}
			})
		})
	}
}

// While a cluster is upgraded, one node knows collections and another one does not.
func TestAKeyHasTheIDOfItsCollectionOnlyWhereTheNodeKnowsCollections(t *testing.T) {
	inWorld(t, refusing(memd.StatusNotMyVBucket, moved(2).JSON(), "a"), func(w *world) {
		if _, err := w.do(w.increment(keyOf0)); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, e := range w.Log() {
			keys = append(keys, fmt.Sprintf("%q@%s", e.Request.Key, e.Host))
		}
		equal(t, "keys", keys, []string{fmt.Sprintf("%q@a", "\x00"+string(keyOf0)), fmt.Sprintf("%q@b", keyOf0)})
	}, func(w *world, _ *cluster.Config, _ *operation.Config) {
		w.nodes["b"].Change(func() { w.nodes["b"].Accept = withoutFeatures([]memd.Feature{memd.FeatureCollections}) })
	})
}
