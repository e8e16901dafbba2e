package failures

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// patience bounds what is expected to succeed, so that a broken scene ends.
const patience = 20 * time.Second

// world is one run of a scene: a cluster of one node, and a client of it.
type world struct {
	*testing.T

	server *couchbasetest.Cluster
	client *gocb.Cluster
	docs   *gocb.Collection
}

// connect starts the cluster and a client, and waits until the client is connected.
func (w *world) connect(parameters string, change func(*gocb.ClusterOptions)) {
	w.Helper()
	w.server = couchbasetest.RunT(w.T, couchbasetest.VBuckets(64))
	o := gocb.ClusterOptions{Username: w.server.Username(), Password: w.server.Password()}
	if change != nil {
		change(&o)
	}
	w.open(parameters, o)
	if err := w.client.Bucket("default").WaitUntilReady(patience, nil); err != nil {
		w.Fatal(err)
	}
	if _, err := w.docs.Upsert("known", map[string]int{"a": 1}, nil); err != nil {
		w.Fatal(err)
	}
}

func (w *world) open(parameters string, o gocb.ClusterOptions) {
	w.Helper()
	client, err := gocb.Connect(w.server.ConnectionString()+parameters, o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = client.Close(nil) })
	w.client, w.docs = client, client.Bucket("default").DefaultCollection()
}

// steady is a strategy that says retry whatever the reason is.
type steady time.Duration

func (s steady) RetryAfter(gocb.RetryRequest, gocb.RetryReason) gocb.RetryAction {
	return &gocb.WithDurationRetryAction{WithDuration: time.Duration(s)}
}

var errStrategy = errors.New("the strategy has failed")

// failing is a strategy that returns an error.
type failing struct{}

func (failing) RetryAfter(gocb.RetryRequest, gocb.RetryReason) gocb.RetryAction {
	return &failedAction{Err: errStrategy}
}

// sentinels are the errors that the scenes look for.
var sentinels = []struct {
	name string
	err  error
}{
	{"timeout", gocb.ErrTimeout},
	{"unambiguous timeout", gocb.ErrUnambiguousTimeout},
	{"ambiguous timeout", gocb.ErrAmbiguousTimeout},
	{"deadline exceeded", context.DeadlineExceeded},
	{"request canceled", gocb.ErrRequestCanceled},
	{"temporary failure", gocb.ErrTemporaryFailure},
	{"authentication failure", gocb.ErrAuthenticationFailure},
	{"circuit breaker open", gocb.ErrCircuitBreakerOpen},
	{"locked", gocb.ErrDocumentLocked},
	{"the strategy's error", errStrategy},
}

// describe returns which of the sentinels an error matches.
func (w *world) describe(err error) string {
	if err == nil {
		return "no error"
	}
	w.Logf("returned: %v", err)
	var names []string
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			names = append(names, s.name)
		}
	}
	if len(names) == 0 {
		return "another error"
	}
	return strings.Join(names, ", ")
}
