package couchbase_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The text of a timeout says why the last attempt failed, so that a log says it without the history.
func TestTheTextOfATimeoutHasItsCause(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		documents := client.Bucket("default").DefaultCollection()
		if _, err := documents.Insert("a", 1, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := documents.GetAndLock("a", 20*time.Second, nil); err != nil {
			t.Fatal(err)
		}
		_, locked := documents.Replace("a", 2, nil)
		_, missing := client.Bucket("none").DefaultCollection().Get("a", nil)
		_, replicas := client.Bucket("none").DefaultCollection().GetAllReplicas("a", nil)
		waited := client.Bucket("none").WaitUntilReady(time.Second, nil)
		server.Kill(0)
		_, dead := documents.Get("a", nil)
		for _, c := range []struct {
			name, want string
			err        error
		}{
			{"a locked document", "unambiguous timeout: document locked", locked},
			{"a bucket that is not there", "unambiguous timeout: bucket not found", missing},
			{"a bucket that is not there, all replicas", "unambiguous timeout: bucket not found", replicas},
			{"a wait for a bucket that is not there", "unambiguous timeout: bucket not found", waited},
			{"a dead node", "unambiguous timeout: ", dead},
		} {
			var timeout *couchbase.TimeoutError
			if !errors.As(c.err, &timeout) || !strings.HasPrefix(c.err.Error(), c.want) || !strings.Contains(c.err.Error(), ` | {"`) {
				t.Errorf("%s: %v", c.name, c.err)
			}
		}
		if text := dead.Error(); !strings.Contains(text, "connection") || strings.Contains(text, "timeout: unambiguous") {
			t.Errorf("a dead node: %s", text)
		}
	}, couchbasetest.Nodes(1))
}
