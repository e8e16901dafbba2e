package couchbase_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The bytes need half a second in each direction, and the TCP connect half a second: a round trip is a second.
func TestBootstrapTakesFewRoundTrips(t *testing.T) {
	const roundTrip = time.Second
	for _, c := range []struct {
		name       string
		mechanisms []couchbase.SaslMechanism
		want       float64 // the handshake, and the Get
	}{
		{"PLAIN", []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}, 2},
		{"SCRAM", nil, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := must[*couchbasetest.Cluster](t)(couchbasetest.Run(couchbasetest.InMemory(), couchbasetest.Latency(roundTrip/2, roundTrip/2)))
				defer server.Close()
				var connected time.Time
				client, err := couchbase.Open(server.ConnectionString(), couchbase.Config{
					Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
						nc, err := server.Dialer().DialContext(ctx, network, address)
						connected = time.Now()
						return nc, err
					},
				}, couchbase.ClusterOptions{
					Username: server.Username(), Password: server.Password(),
					SecurityConfig: couchbase.SecurityConfig{AllowedSaslMechanisms: c.mechanisms},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close(nil)
				_, err = client.Bucket("default").DefaultCollection().Get("missing", &couchbase.GetOptions{Timeout: time.Minute})
				trips := time.Since(connected).Seconds() / roundTrip.Seconds()
				fmt.Printf("with %s: %v round trips\n", c.name, trips)
				if c.mechanisms == nil {
					fmt.Printf("figure cb-bootstrap-roundtrips %v\n", trips)
				}
				if !errors.Is(err, couchbase.ErrDocumentNotFound) || trips != c.want {
					t.Errorf("the reply was there %v round trips after the TCP connect, want %v: %v", trips, c.want, err)
				}
			})
		})
	}
}
