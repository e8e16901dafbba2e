package mongo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Config has the settings of a client that the official options lack. The zero Config changes nothing.
type Config struct {
	// Resolver looks up the SRV and TXT records of a mongodb+srv connection string, at the beginning and, for a sharded
	// cluster, once a minute. Nil means net.DefaultResolver.
	Resolver Resolver

	// Strategy is asked after a failed attempt if the client's own rules allow another one. It can decline, or ask for a longer
	// delay; it cannot allow a retry that the rules forbid. Nil means that the rules alone decide.
	Strategy retry.Strategy
	// Budget limits the retries of all operations together. Several clients can share one. Nil means no limit.
	Budget *retry.Budget
	// Breaker gives each server a circuit breaker. An attempt at a server whose breaker is open fails with
	// retry.ErrBreakerOpen; a retry prefers other servers. Nil means no breakers. See retry.DefaultBreakerOptions.
	Breaker *retry.BreakerOptions
	// AttemptTimeout limits the time of each attempt on its server, from the checkout of a connection to the reply. An attempt
	// that reaches it fails with a network timeout and is retried by the usual rules. The retry goes to another server, or to the
	// same one after a check has shown that it answers. So a server that is silent holds an operation for this time only. It must be
	// longer than any command may take, the wait of a tailable cursor included. Zero means no limit; it must not be negative. It
	// replaces socketTimeoutMS and waitQueueTimeoutMS of the connection string.
	AttemptTimeout time.Duration
	// MaxResumeTime limits how long one call of a change stream's Next or TryNext tries to resume, for example while no server can be
	// selected. Then it returns false with an error that matches context.DeadlineExceeded, and the next call tries again. Zero means that
	// it tries until the call's context ends; it must not be negative. The client's log tells of streams that cannot resume.
	MaxResumeTime time.Duration
	// Tracer is told of operations, of their attempts and of transactions. Nil means that nobody is. Package telemetry has the rules;
	// telemetry.Join makes one tracer of several. In a context, a span or the like is the parent of what the client begins.
	Tracer *telemetry.Tracer
	// Observer receives the events of the retries of all operations. Nil means none.
	Observer retry.Observer

	socket func(net.Conn) net.Conn // see package unwrap
}

// Resolver looks up DNS records. It must be safe for concurrent use. A *net.Resolver is one.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, addrs []*net.SRV, err error)
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

var _ Resolver = (*net.Resolver)(nil)

// Open is [Connect] with a connection string and with settings that the official options lack. The options take precedence over
// the connection string, and must not have hosts or a connection string of their own.
//
// A mongodb+srv connection string is resolved by cfg.Resolver, within the option ConnectTimeout. An error in the rest of the
// connection string or in the options is found before that.
func Open(uri string, cfg Config, opts ...*options.ClientOptions) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	given := options.MergeClientOptions(opts...)
	switch {
	case uri == "":
		return nil, errors.New("mongo: Open: the connection string is empty")
	case given.GetURI() != "":
		return nil, errors.New("mongo: Open: the options have a connection string of their own; it must be the first argument")
	case len(given.Hosts) > 0:
		return nil, errors.New("mongo: Open: the options have Hosts; the hosts must be in the connection string")
	}
	o, srv, err := cfg.resolve(withoutNoStaleness(uri), given)
	if err != nil {
		return nil, err
	}
	return connect(cfg, o, srv)
}

// check returns an error that names the first setting that is wrong.
func (cfg *Config) check() error {
	if cfg.AttemptTimeout < 0 {
		return fmt.Errorf("mongo: Config.AttemptTimeout is %v; it must not be negative", cfg.AttemptTimeout)
	}
	if cfg.MaxResumeTime < 0 {
		return fmt.Errorf("mongo: Config.MaxResumeTime is %v; it must not be negative", cfg.MaxResumeTime)
	}
	for _, setting := range []struct {
		name  string
		value any
	}{{"Resolver", cfg.Resolver}, {"Strategy", cfg.Strategy}, {"Observer", cfg.Observer}} {
		if v := reflect.ValueOf(setting.value); setting.value != nil && v.Kind() == reflect.Pointer && v.IsNil() {
			return fmt.Errorf("mongo: Config.%s is a nil %T; it must be nil itself, or not nil", setting.name, setting.value)
		}
	}
	if cfg.Strategy != nil {
		if _, err := retry.New(retry.Options{Strategy: cfg.Strategy}); err != nil {
			return fmt.Errorf("mongo: Config.Strategy: %w", err)
		}
	}
	if cfg.Breaker != nil {
		if _, err := retry.NewBreaker(*cfg.Breaker); err != nil {
			return fmt.Errorf("mongo: Config.Breaker: %w", err)
		}
	}
	return nil
}

// limits returns the settings of the retries.
func (cfg *Config) limits(socketTimeout time.Duration) operation.Limits {
	return operation.Limits{
		Strategy: cfg.Strategy, Budget: cfg.Budget, Breaker: cfg.Breaker, AttemptTimeout: cfg.AttemptTimeout, SocketTimeout: socketTimeout,
		Observer: cfg.Observer,
	}
}

// resolver returns the resolver in use. The default is read at each call, as package net does.
func (cfg *Config) resolver() Resolver {
	if cfg.Resolver != nil {
		return cfg.Resolver
	}
	return net.DefaultResolver
}

// resolve returns the options of a connection string with the given ones, and the SRV records from which the hosts came. These
// are nil for a list of hosts.
func (cfg *Config) resolve(uri string, given *options.ClientOptions) (*options.ClientOptions, *srvRecords, error) {
	srv, isSRV := parseSRV(uri)
	if !isSRV {
		return options.MergeClientOptions(options.Client().ApplyURI(uri), given), nil, nil
	}
	records, err := srv.records(given)
	if err != nil {
		return nil, nil, err
	}
	o := srv.options(given, records, nil)
	if err := validate(o, records); err != nil {
		return nil, nil, err
	}
	timeout := timeoutOrDefault(o.ConnectTimeout)
	if timeout == 0 {
		timeout = defaultLookupTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	defaults, err := records.defaults(ctx, cfg.resolver(), srv.names)
	if err != nil {
		return nil, nil, fmt.Errorf("mongo: %w", err)
	}
	hosts, err := records.hosts(ctx, cfg.resolver())
	if err != nil {
		return nil, nil, fmt.Errorf("mongo: %w", err)
	}
	o = srv.options(given, records, defaults)
	o.Hosts = atMost(records.maxHosts, hosts)
	return o, records, nil
}
