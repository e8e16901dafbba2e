package couchbase_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// rotating is an authenticator whose password changes.
type rotating struct {
	couchbase.PasswordAuthenticator

	mu       sync.Mutex
	password string
	err      error
	asked    []string // the endpoints of the key-value connections
}

func (r *rotating) Credentials(req couchbase.AuthCredsRequest) ([]couchbase.UserPassPair, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Service == couchbase.ServiceTypeKeyValue {
		r.asked = append(r.asked, req.Endpoint)
	}
	return []couchbase.UserPassPair{{Username: r.Username, Password: r.password}}, r.err
}

func (r *rotating) set(password string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.password, r.err = password, err
}

func TestAnAuthenticatorIsAskedForEachConnection(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		r := &rotating{PasswordAuthenticator: couchbase.PasswordAuthenticator{Username: server.Username()}, password: "old"}
		client := connect(t, server, couchbase.ClusterOptions{Authenticator: r})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		if _, err := c.Upsert("a", 1, nil); !errors.Is(err, couchbase.ErrAuthenticationFailure) || errors.Is(err, couchbase.ErrTimeout) {
			t.Errorf("the old password: %v", err)
		}
		r.set(server.Password(), nil)
		<-time.After(6 * time.Second) // the longest time between two tries
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if want := server.Address(0, "kv"); !slices.Contains(r.asked, want) {
			t.Errorf("it was asked for %q, not for %q", r.asked, want)
		}
		mine := errors.New("mine")
		r.set("", mine)
		server.Kill(0)
		server.Restart(0)
		<-time.After(time.Second)
		if _, err := c.Upsert("a", 1, nil); !errors.Is(err, couchbase.ErrAuthenticationFailure) || !errors.Is(err, mine) || errors.Is(err, couchbase.ErrTimeout) {
			t.Errorf("no password: %v", err)
		}
		r.set(server.Password(), nil)
		<-time.After(6 * time.Second)
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
	})
}
