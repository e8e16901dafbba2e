package couchbase

import (
	"context"
	"net"
	"reflect"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Config has the settings of a cluster that [ClusterOptions] lack. The zero Config changes nothing.
type Config struct {
	// Dial makes connections to nodes. Nil means TCP. couchbasetest's dialer is one for the in-memory network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Resolver looks up the service record that may name the nodes. Nil means net.DefaultResolver.
	Resolver Resolver
	// Observer receives the events of the retries of all operations. Nil means none. Package retryslog has one that logs.
	Observer retry.Observer
	// Tracer is told of operations, of their attempts, of retries and of connections, with plain data: see package telemetry. It is called beside
	// the Tracer and the Meter of [ClusterOptions]. Nil means none, which costs nothing.
	//
	// An operation is told of from its first step to the moment at which the application gets its result; of a query that is the first row. The
	// context is that of the operation's options. One that is refused before it begins, because an option is wrong or the cluster is closed, is not
	// told of. A tracer gets no document, no credential, and the text of a statement only if that has parameters; an error has no text of an HTTP
	// service, which may repeat the query.
	//
	// A panic of a function is a panic of the operation. The function Pool is called on goroutines of the client, with locks held: a panic of it is
	// an error of the connection, and it must not use the cluster.
	Tracer *telemetry.Tracer
}

// Resolver looks up service records. It must be safe for concurrent use. A *net.Resolver is one.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, addrs []*net.SRV, err error)
}

var _ Resolver = (*net.Resolver)(nil)

// resolve returns the addresses that a service record names.
func (c Config) resolve(ctx context.Context, name string) ([]string, error) {
	resolver := c.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	_, records, err := resolver.LookupSRV(ctx, "", "", name)
	if err != nil {
		return nil, err
	}
	addresses := make([]string, 0, len(records))
	for _, r := range records {
		addresses = append(addresses, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))))
	}
	return addresses, nil
}

// Connect returns a cluster and connects to it in the background: it does not wait for a connection. [Cluster.WaitUntilReady] waits
// for one; operations wait for what they need. The error is about the connection string or the options.
func Connect(connStr string, opts ClusterOptions) (*Cluster, error) {
	return Open(connStr, Config{}, opts)
}

// check returns an error that names the first setting that is wrong.
func (c *Config) check() error {
	for _, setting := range []struct {
		name  string
		value any
	}{{"Resolver", c.Resolver}, {"Observer", c.Observer}} {
		if v := reflect.ValueOf(setting.value); v.Kind() == reflect.Pointer && v.IsNil() {
			return invalid("Config.%s is a nil %T; it must be nil itself, or not nil", setting.name, setting.value)
		}
	}
	return nil
}

// Open is [Connect] with settings that the options of gocb lack.
func Open(connStr string, cfg Config, opts ClusterOptions) (*Cluster, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s, err := readSettings(connStr, cfg, &opts)
	if err != nil {
		return nil, err
	}
	return newCluster(s, cfg)
}
