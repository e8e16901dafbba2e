package couchbase_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// levelLog keeps the levels of the lines about retries and refusals.
type levelLog struct {
	mu     sync.Mutex
	levels []couchbase.LogLevel
}

func (l *levelLog) Log(level couchbase.LogLevel, _ int, format string, v ...any) error {
	if decisionLine.MatchString(fmt.Sprintf(format, v...)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.levels = append(l.levels, level)
	}
	return nil
}

// take returns the levels so far, and forgets them.
func (l *levelLog) take() []couchbase.LogLevel {
	l.mu.Lock()
	defer l.mu.Unlock()
	levels := l.levels
	l.levels = nil
	return levels
}

// An answer that an application may expect does not fill a log at LogInfo; the refusal of a retry stands there.
func TestOnlyRefusedRetriesAreLoggedAtInfo(t *testing.T) {
	const expected, refused = couchbase.LogDebug, couchbase.LogInfo
	always := func(op couchbasetest.Opcode, f couchbasetest.Fault) func(*couchbasetest.Cluster) {
		return func(server *couchbasetest.Cluster) { server.Use(op, couchbasetest.Always(f)) }
	}
	for _, test := range []struct {
		name string
		want couchbase.LogLevel
		make func(*couchbasetest.Cluster)
		run  func(c *couchbase.Collection, cas couchbase.Cas) error
	}{
		{"document not found", expected, nil, func(c *couchbase.Collection, _ couchbase.Cas) error { return second(c.Get("none", nil)) }},
		{"document exists", expected, nil, func(c *couchbase.Collection, _ couchbase.Cas) error { return second(c.Insert("a", 1, nil)) }},
		{"CAS mismatch", expected, nil, func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.Replace("a", 1, &couchbase.ReplaceOptions{Cas: cas + 1}))
		}},
		{"removal with a CAS mismatch", expected, nil, func(c *couchbase.Collection, cas couchbase.Cas) error {
			return second(c.Remove("a", &couchbase.RemoveOptions{Cas: cas + 1}))
		}},
		{"unlock of what is not locked", expected, nil, func(c *couchbase.Collection, cas couchbase.Cas) error { return c.Unlock("a", cas, nil) }},
		{"path not found", expected, nil, func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.MutateIn("a", []couchbase.MutateInSpec{couchbase.RemoveSpec("none", nil)}, nil))
		}},
		{"too few nodes for the durability level", expected, always(memd.OpSet, couchbasetest.Fault{Status: memd.StatusDurabilityImpossible}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Upsert("a", 1, nil))
		}},
		{"the caller cancels", expected, always(memd.OpGet, couchbasetest.Fault{Delay: time.Hour}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(time.Second, cancel)
			return second(c.Get("a", &couchbase.GetOptions{Context: ctx}))
		}},
		{"a copy that cannot be asked", expected, func(server *couchbasetest.Cluster) { server.Kill(server.Owners("default", "a")[1]) }, func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Upsert("a", 1, &couchbase.UpsertOptions{ReplicateTo: 1, Timeout: time.Second}))
		}},
		{"ambiguous durability", refused, always(memd.OpSet, couchbasetest.Fault{Status: memd.StatusSyncWriteAmbiguous}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Upsert("a", 1, nil))
		}},
		{"a status that nobody knows", refused, always(memd.OpGet, couchbasetest.Fault{Status: unknownStatus}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Get("a", nil))
		}},
		{"a lost reply of a write", refused, always(memd.OpIncrement, couchbasetest.Fault{LoseReply: true}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Binary().Increment("n", nil))
		}},
		{"no answer in time", refused, always(memd.OpGet, couchbasetest.Fault{Delay: time.Hour}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Get("a", nil))
		}},
		{"temporary failures until the timeout", refused, always(memd.OpGet, couchbasetest.Fault{Status: memd.StatusTemporaryFailure}), func(c *couchbase.Collection, _ couchbase.Cas) error {
			return second(c.Get("a", nil))
		}},
	} {
		log := &levelLog{}
		couchbase.SetLogger(log)
		withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
			c := client.Bucket("default").DefaultCollection()
			cas := must[*couchbase.MutationResult](t)(c.Upsert("a", map[string]any{}, nil)).Cas()
			if test.make != nil {
				test.make(server)
			}
			log.take()
			if err := test.run(c, cas); err == nil {
				t.Errorf("%s: there is no error", test.name)
			}
			levels := log.take()
			if n := len(levels); n == 0 || levels[n-1] != test.want || slices.Contains(levels[:n-1], couchbase.LogInfo) {
				t.Errorf("%s: the lines have the levels %v, want %v at the end, and before it only retries", test.name, levels, test.want)
			}
		}, couchbasetest.Nodes(2))
		couchbase.SetLogger(nil)
	}
}

// TestALookAtReplicasLogsNothingAtInfo: the reads that the first answer makes needless are cancelled.
func TestALookAtReplicasLogsNothingAtInfo(t *testing.T) {
	log := &levelLog{}
	couchbase.SetLogger(log)
	defer couchbase.SetLogger(nil)
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 2}))
		server.Use(memd.OpGetReplica, couchbasetest.Always(couchbasetest.Fault{Delay: time.Hour}))
		log.take()
		must[*couchbase.GetReplicaResult](t)(c.GetAnyReplica("a", nil))
		<-time.After(time.Second)
		if levels := log.take(); !slices.Equal(levels, []couchbase.LogLevel{couchbase.LogDebug}) {
			t.Errorf("the lines have the levels %v, want one, LogDebug", levels)
		}
	}, couchbasetest.Nodes(2))
}
