package couchbasetest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase/couchbasetest"
)

func TestServeForHand(t *testing.T) {
	file := os.Getenv("SERVE_FILE")
	if file == "" {
		t.Skip()
	}
	c := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.Version(os.Getenv("SERVE_VERSION")),
		couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 1, FlushEnabled: true}))
	os.WriteFile(file, []byte(c.ConnectionString()), 0o644)
	for {
		if _, err := os.Stat(file); err != nil {
			break
		}
		<-time.After(200 * time.Millisecond)
	}
	fmt.Println(c.Counters().Requests)
}
