package couchbase_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// Passwords over TLS, client certificates, and certificates that nobody vouches for.
func TestTLS(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		trusted, err := server.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		certified, err := server.ClientTLS(server.Username())
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name    string
			options couchbase.ClusterOptions
			works   bool
		}{
			{"a password, and trusted roots", couchbase.ClusterOptions{SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: trusted.RootCAs}}, true},
			{"a password, and nothing verified", couchbase.ClusterOptions{SecurityConfig: couchbase.SecurityConfig{TLSSkipVerify: true}}, true},
			{"SCRAM over TLS", couchbase.ClusterOptions{SecurityConfig: couchbase.SecurityConfig{
				TLSRootCAs: trusted.RootCAs, AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.ScramSha1SaslMechanism},
			}}, true},
			{"a certificate", couchbase.ClusterOptions{
				Authenticator:  couchbase.CertificateAuthenticator{ClientCertificate: &certified.Certificates[0]},
				SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: trusted.RootCAs},
			}, true},
			{"roots that do not vouch for the nodes", couchbase.ClusterOptions{}, false},
		} {
			client := connect(t, server, test.options)
			c := client.Bucket("default").DefaultCollection()
			_, err := c.Upsert("a", 1, nil)
			if test.works != (err == nil) || err != nil && !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
				t.Errorf("%s: %v", test.name, err)
			}
			if test.works {
				if _, err := client.Buckets().GetAllBuckets(nil); err != nil {
					t.Errorf("%s, over HTTP: %v", test.name, err)
				}
			}
			if err := client.Close(nil); err != nil {
				t.Error(err)
			}
		}
	}, couchbasetest.TLS())
}

// records is a resolver with one record.
type records struct {
	asked string
	srv   []*net.SRV
}

func (r *records) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	r.asked = service + proto + name
	if len(r.srv) == 0 {
		return "", nil, errors.New("no record")
	}
	return "", r.srv, nil
}

func TestAServiceRecordNamesTheNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := couchbasetest.Run(couchbasetest.InMemory(), couchbasetest.VBuckets(16))
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		host, _, err := net.SplitHostPort(strings.TrimPrefix(server.Address(0, "kv"), "couchbase://"))
		if err != nil {
			t.Fatal(err)
		}
		resolver := &records{srv: []*net.SRV{{Target: host + ".", Port: 11210}}}
		client, err := couchbase.Open("couchbase://cluster.example", couchbase.Config{Dial: server.Dialer().DialContext, Resolver: resolver},
			couchbase.ClusterOptions{Username: server.Username(), Password: server.Password()})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(nil)
		if _, err := client.Bucket("default").DefaultCollection().Upsert("a", 1, nil); err != nil {
			t.Error(err)
		}
		if resolver.asked != "_couchbase._tcp.cluster.example" {
			t.Errorf("%q was asked for", resolver.asked)
		}
	})
}

func TestAPreferredServerGroup(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{PreferredServerGroup: "a group without nodes"})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		_, err := c.GetAnyReplica("a", &couchbase.GetAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceSelectedServerGroup})
		if !errors.Is(err, couchbase.ErrDocumentUnretrievable) {
			t.Errorf("%v", err)
		}
		if _, err := c.GetAnyReplica("a", &couchbase.GetAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceNone}); err != nil {
			t.Error(err)
		}
	})
}

// A custom breaker callback is asked, and an open breaker is a reason for the strategy.
func TestTheBreakerIsConfigured(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		var seen []error
		client := connect(t, server, couchbase.ClusterOptions{CircuitBreakerConfig: couchbase.CircuitBreakerConfig{
			VolumeThreshold: 2, ErrorThresholdPercentage: 50, SleepWindow: time.Hour, RollingWindow: time.Hour,
			CompletionCallback: func(err error) bool {
				if err != nil {
					seen = append(seen, err)
				}
				return err == nil
			},
		}})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		server.BlackHole(0)
		for range 3 {
			if _, err := c.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond}); !errors.Is(err, couchbase.ErrTimeout) {
				t.Errorf("%v", err)
			}
		}
		_, err := c.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond})
		if !errors.Is(err, couchbase.ErrCircuitBreakerOpen) || !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("the breaker is not open: %v", err)
		}
		if len(seen) == 0 || !errors.Is(seen[0], couchbase.ErrTimeout) {
			t.Errorf("the callback saw %v", seen)
		}
	})
}
