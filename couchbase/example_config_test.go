package couchbase_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/retry"
)

// What is left out has its default.
func ExampleClusterOptions() {
	servers, err := couchbasetest.Run()
	ok(err)
	defer servers.Close()
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{
		Username: servers.Username(), Password: servers.Password(),
		TimeoutsConfig:       couchbase.TimeoutsConfig{KVTimeout: 20 * time.Second, QueryTimeout: time.Minute},
		IoConfig:             couchbase.IoConfig{DisableServerDurations: true},
		CompressionConfig:    couchbase.CompressionConfig{MinSize: 64},
		CircuitBreakerConfig: couchbase.CircuitBreakerConfig{VolumeThreshold: 50, SleepWindow: time.Second},
		OrphanReporterConfig: couchbase.OrphanReporterConfig{Disabled: true},
		AppTelemetryConfig:   couchbase.AppTelemetryConfig{Disabled: true},
		SecurityConfig: couchbase.SecurityConfig{
			AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.ScramSha512SaslMechanism},
		},
	})
	ok(err)
	ok(cluster.WaitUntilReady(time.Minute, nil))
	fmt.Println(cluster.Close(&couchbase.ClusterCloseOptions{}))
	// Output:
	// <nil>
}

// A profile sets the timeouts for a kind of network.
func ExampleClusterOptions_ApplyProfile() {
	var options couchbase.ClusterOptions
	ok(options.ApplyProfile(couchbase.ClusterConfigProfileWanDevelopment))
	fmt.Println(options.TimeoutsConfig.KVTimeout)
	// Output:
	// 20s
}

// The callback says which errors of operations the circuit breaker counts.
func ExampleCircuitBreakerConfig() {
	counts := couchbase.CircuitBreakerCallback(func(err error) bool {
		return errors.Is(err, couchbase.ErrTimeout) || errors.Is(err, couchbase.ErrTemporaryFailure)
	})
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{
		CircuitBreakerConfig: couchbase.CircuitBreakerConfig{CompletionCallback: counts},
	})
	defer end()
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	fmt.Println(counts(couchbase.ErrTemporaryFailure), counts(couchbase.ErrDocumentNotFound))
	// Output:
	// true false
}

// oneRecord is a resolver that knows the servers of a cluster.
type oneRecord struct{ host string }

func (r oneRecord) LookupSRV(_ context.Context, _, _, name string) (string, []*net.SRV, error) {
	return name, []*net.SRV{{Target: r.host + ".", Port: 11210}}, nil
}

// attempts counts the attempts of all operations.
type attempts struct{ n atomic.Int64 }

func (a *attempts) Observe(context.Context, retry.Event) { a.n.Add(1) }

// Open takes the network, the resolver of DNS records and an observer of each attempt from the application.
func ExampleOpen() {
	servers, err := couchbasetest.Run(couchbasetest.InMemory())
	ok(err)
	defer servers.Close()
	host, _, err := net.SplitHostPort(servers.Address(0, "kv"))
	ok(err)
	var resolver couchbase.Resolver = oneRecord{host}
	seen := &attempts{}
	config := couchbase.Config{Dial: servers.Dialer().DialContext, Resolver: resolver, Observer: seen}
	cluster, err := couchbase.Open("couchbase://cluster.example", config, couchbase.ClusterOptions{
		Username: servers.Username(), Password: servers.Password(), TimeoutsConfig: couchbase.TimeoutsConfig{KVTimeout: time.Minute},
	})
	ok(err)
	defer cluster.Close(nil)
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	fmt.Println("attempts were seen:", seen.n.Load() > 0)
	// Output:
	// attempts were seen: true
}

func ExamplePasswordAuthenticator() {
	servers, err := couchbasetest.Run()
	ok(err)
	defer servers.Close()
	login := couchbase.PasswordAuthenticator{Username: servers.Username(), Password: servers.Password()}
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{Authenticator: login})
	ok(err)
	defer cluster.Close(nil)
	ok(cluster.WaitUntilReady(time.Minute, nil))
	fmt.Println(login) // the password is not printed
	// Output:
	// PasswordAuthenticator(Administrator)
}

// The client shows a certificate in place of a password.
func ExampleCertificateAuthenticator() {
	servers, err := couchbasetest.Run(couchbasetest.TLS())
	ok(err)
	defer servers.Close()
	config, err := servers.ClientTLS("Administrator")
	ok(err)
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{
		Authenticator:  couchbase.CertificateAuthenticator{ClientCertificate: &config.Certificates[0]},
		SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: config.RootCAs},
	})
	ok(err)
	defer cluster.Close(nil)
	fmt.Println(cluster.WaitUntilReady(time.Minute, nil))
	// Output:
	// <nil>
}

// A provider is asked for the authorities at each new connection, so that they can be replaced while the client runs.
func ExampleInternalConfig() {
	servers, err := couchbasetest.Run(couchbasetest.TLS())
	ok(err)
	defer servers.Close()
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(servers.CACertificate())
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{
		Username: servers.Username(), Password: servers.Password(),
		InternalConfig: couchbase.InternalConfig{TLSRootCAProvider: func() *x509.CertPool { return authorities }},
	})
	ok(err)
	defer cluster.Close(nil)
	fmt.Println(cluster.WaitUntilReady(time.Minute, nil))
	// Output:
	// <nil>
}

// vault is an authenticator that reads the password anew for each connection, and has no certificate. The rest is as for one password.
type vault struct {
	couchbase.PasswordAuthenticator

	read func() (user, password string)
}

func (vault) Certificate(couchbase.AuthCertRequest) (*tls.Certificate, error) { return nil, nil }

func (v vault) Credentials(couchbase.AuthCredsRequest) ([]couchbase.UserPassPair, error) {
	user, password := v.read()
	return []couchbase.UserPassPair{{Username: user, Password: password}}, nil
}

// An application's authenticator can return a new password after each change.
func ExampleAuthenticator() {
	servers, err := couchbasetest.Run()
	ok(err)
	defer servers.Close()
	var authenticator couchbase.Authenticator = vault{read: func() (string, string) { return servers.Username(), servers.Password() }}
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{Authenticator: authenticator})
	ok(err)
	defer cluster.Close(nil)
	fmt.Println(cluster.WaitUntilReady(time.Minute, nil))
	// Output:
	// <nil>
}

// A token logs in to the nodes and the services. Before it expires it is replaced by the next one, also on the connections that are open.
func ExampleCluster_SetAuthenticator() {
	servers, err := couchbasetest.Run(couchbasetest.TLS(), couchbasetest.Tokens("first.json.token", "next.json.token"))
	ok(err)
	defer servers.Close()
	config, err := servers.ClientTLS()
	ok(err)
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{
		Authenticator:  couchbase.JWTAuthenticator{Token: "first.json.token"},
		SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: config.RootCAs},
	})
	ok(err)
	defer cluster.Close(nil)
	fmt.Println(cluster.WaitUntilReady(time.Minute, nil))
	fmt.Println(cluster.SetAuthenticator(couchbase.SetAuthenticatorOptions{
		Authenticator: couchbase.JWTAuthenticator{Token: "next.json.token"},
	}))
	// Output:
	// <nil>
	// <nil>
}
