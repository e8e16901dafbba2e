package couchbase_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/retry"
)

type pointerObserver struct{ retry.Observer }

// An interface that holds a nil pointer would fail at its first use, in the middle of an operation.
func TestOpenRefusesNilPointers(t *testing.T) {
	for field, cfg := range map[string]couchbase.Config{
		"Config.Resolver": {Resolver: (*net.Resolver)(nil)},
		"Config.Observer": {Observer: (*pointerObserver)(nil)},
	} {
		cluster, err := couchbase.Open("couchbase://localhost", cfg, couchbase.ClusterOptions{Username: "u", Password: "p"})
		if cluster != nil || !errors.Is(err, couchbase.ErrInvalidArgument) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v, %v", field, cluster, err)
		}
	}
}
