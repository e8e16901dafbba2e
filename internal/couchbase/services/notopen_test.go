package services

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// notOpenNodes has no map.
type notOpenNodes struct{ kind ErrorKind }

func (n notOpenNodes) Offering(clustermap.Service, string) Offer {
	return Offer{NotOpen: &NotOpen{Kind: n.kind, Err: io.ErrNoProgress}}
}

func (notOpenNodes) Can(string, string) bool { return false }

func TestWithoutAMap(t *testing.T) {
	cases := []struct {
		name  string
		kind  ErrorKind
		want  ErrorKind
		cause ErrorKind
		took  time.Duration
	}{
		{"a map is waited for", KindOther, KindUnambiguousTimeout, KindOther, 10 * time.Second},
		{"a bucket is waited for, and is the timeout's cause", KindBucketNotFound, KindUnambiguousTimeout, KindBucketNotFound, 10 * time.Second},
		{"a wrong password is said at once", KindAuthenticationFailure, KindAuthenticationFailure, KindOther, 0},
		{"a closed client says so at once", KindClosed, KindClosed, KindOther, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				c, _ := cluster.client(t, func(c *Config) { c.Nodes = notOpenNodes{tc.kind} })
				defer c.Close()
				begin := time.Now()
				_, err := stream(c, clustermap.Query, retry.NotIdempotent)
				var e *Error
				if !errors.As(err, &e) || e.Kind != tc.want || e.Cause != tc.cause || !errors.Is(err, io.ErrNoProgress) || !e.OutcomeKnown {
					t.Errorf("%+v", err)
				}
				if took := time.Since(begin).Round(time.Second); took != tc.took {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}
