package couchbase_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// slowNode delays the answers of one node to looks at its copies.
func slowNode(server *couchbasetest.Cluster, node int, delay time.Duration) {
	for _, op := range []couchbasetest.Opcode{memd.OpObserve, memd.OpObserveSeqno} {
		server.Use(op, couchbasetest.Decide(func(r *couchbasetest.Request) couchbasetest.Fault {
			if r.Node == node {
				return couchbasetest.Fault{Delay: delay}
			}
			return couchbasetest.Fault{}
		}))
	}
}

// TestTheCopiesAreAskedAtOnce checks how long the looks at the copies of a document take. Its copies are on the nodes
// owners[0] to owners[3], whose answers take 100, 200, 300 and 400 ms.
func TestTheCopiesAreAskedAtOnce(t *testing.T) {
	for _, test := range []struct {
		name    string
		options couchbase.UpsertOptions
		want    time.Duration
	}{
		{"all copies take as long as the slowest", couchbase.UpsertOptions{PersistTo: 4, ReplicateTo: 3}, 400 * time.Millisecond},
		{"one replica takes as long as the fastest replica", couchbase.UpsertOptions{ReplicateTo: 1}, 200 * time.Millisecond},
		{"two replicas", couchbase.UpsertOptions{ReplicateTo: 2}, 300 * time.Millisecond},
		{"one node with a disk takes as long as the fastest node", couchbase.UpsertOptions{PersistTo: 1}, 100 * time.Millisecond},
	} {
		for _, tokens := range []bool{true, false} {
			withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
				client := connect(t, server, couchbase.ClusterOptions{IoConfig: couchbase.IoConfig{DisableMutationTokens: !tokens}})
				defer client.Close(nil)
				c := client.Bucket("default").DefaultCollection()
				must[*couchbase.MutationResult](t)(c.Upsert("a", 0, &couchbase.UpsertOptions{PersistTo: 4})) // all connections are up
				for i, owner := range server.Owners("default", "a") {
					slowNode(server, owner, time.Duration(i+1)*100*time.Millisecond)
				}
				began := time.Now()
				must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &test.options))
				if took := time.Since(began); took != test.want {
					t.Errorf("%s, tokens %v: %v, want %v", test.name, tokens, took, test.want)
				}
			}, couchbasetest.Nodes(4), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 3}))
		}
	}
}

// TestWritesWithDurabilityHaveItsTimeout: RFC 0059 gives KVDurableTimeout to writes with a level and to those that are observed.
func TestWritesWithDurabilityHaveItsTimeout(t *testing.T) {
	for _, test := range []struct {
		name    string
		options couchbase.UpsertOptions
		want    time.Duration
	}{
		{"no durability", couchbase.UpsertOptions{}, 2500 * time.Millisecond},
		{"majority", couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority}, 10 * time.Second},
		{"persist to majority", couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelPersistToMajority}, 10 * time.Second},
		{"PersistTo", couchbase.UpsertOptions{PersistTo: 1}, 10 * time.Second},
		{"ReplicateTo", couchbase.UpsertOptions{ReplicateTo: 1}, 10 * time.Second},
		{"a timeout of its own", couchbase.UpsertOptions{ReplicateTo: 1, Timeout: time.Second}, time.Second},
	} {
		withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
			c := client.Bucket("default").DefaultCollection()
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			server.Use(memd.OpSet, couchbasetest.Always(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
			began := time.Now()
			_, err := c.Upsert("a", 1, &test.options)
			if took := time.Since(began); took != test.want || !errors.Is(err, couchbase.ErrTimeout) {
				t.Errorf("%s: %v after %v, want a timeout after %v", test.name, err, took, test.want)
			}
		}, couchbasetest.Nodes(2))
	}
}

// TestAWaitForCopiesEndsWithItsContext: its write was applied, so a deadline is an ambiguous timeout.
func TestAWaitForCopiesEndsWithItsContext(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		for _, end := range []struct {
			name string
			kind error
			of   func(context.Context) (context.Context, context.CancelFunc)
		}{
			{"cancelled", couchbase.ErrRequestCanceled, func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(time.Second, cancel)
				return ctx, cancel
			}},
			{"deadline", couchbase.ErrAmbiguousTimeout, func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second)
			}},
		} {
			ctx, cancel := end.of(t.Context())
			began := time.Now()
			_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{ReplicateTo: 1, Context: ctx})
			cancel()
			if took := time.Since(began); took != time.Second || !errors.Is(err, end.kind) || !errors.Is(err, context.Cause(ctx)) {
				t.Errorf("%s: %v after %v", end.name, err, took)
			}
			if _, applied := server.Document("default", "a"); !applied {
				t.Errorf("%s: the write was not applied", end.name)
			}
		}
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(time.Hour))
}

// TestLooksThatAreNotNeededLeaveNoOrphans: the slow copy answers after the write has returned.
func TestLooksThatAreNotNeededLeaveNoOrphans(t *testing.T) {
	logged := watch(t)
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 0, &couchbase.UpsertOptions{PersistTo: 3}))
		slowNode(server, server.Owners("default", "a")[2], 300*time.Millisecond)
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{ReplicateTo: 1}))
		<-time.After(time.Minute)
		logged.mu.Lock()
		defer logged.mu.Unlock()
		if slices.ContainsFunc(logged.lines, func(line string) bool { return strings.Contains(line, "Orphan") }) {
			t.Errorf("%q", logged.lines)
		}
	}, couchbasetest.Nodes(3), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}))
}
