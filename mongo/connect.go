package mongo

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

const (
	defaultLocalThreshold     = 15 * time.Millisecond
	defaultMaxPoolSize        = 100
	defaultMaxAdaptiveRetries = 2
	maxAppName                = 128 // bytes; MongoDB Handshake specification
)

// Connect returns a client for a deployment and starts its monitors. It does not wait for a server; the first
// operation does. It returns an error for options that contradict each other and for an option that is not supported:
// the error names the option. If several options are given, they are merged, and later ones take precedence.
//
// It calls no listener of servers, of the topology or of heartbeats on the caller's goroutine, so a listener may wait for what the caller does
// later. The page docs/CLIENT.md of the repository has all rules of listeners.
func Connect(opts ...*options.ClientOptions) (*Client, error) {
	return Config{}.connect(options.MergeClientOptions(opts...))
}

// connect starts a client with options that have a connection string already, or hosts.
func (cfg Config) connect(o *options.ClientOptions) (*Client, error) {
	srv, err := srvOf(o)
	if err != nil {
		return nil, err
	}
	return connect(cfg, o, srv)
}

// connect starts a client. srv are the SRV records from which the hosts came, nil if there are none.
func connect(cfg Config, o *options.ClientOptions, srv *srvRecords) (*Client, error) {
	if err := validate(o, srv); err != nil {
		return nil, err
	}
	login, err := authenticator(o)
	if err != nil {
		return nil, err
	}
	log, err := logging.New(o.LoggerOptions, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("mongo: %w", err)
	}
	logIgnoredOptions(log, o.GetURI())
	applyLegacyReads(o, log)
	legacy := legacyTimeoutsOf(o, cfg)
	clusterCfg := clusterConfig(o, login)
	clusterCfg.SRV, clusterCfg.Log, clusterCfg.Tracer, clusterCfg.Socket = srv.polling(cfg), log, cfg.Tracer, cfg.socket
	clusterCfg.SocketTimeout, clusterCfg.WaitQueueTimeout = legacy.socket, legacy.waitQueue
	c, err := cluster.New(clusterCfg)
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("mongo: %w", err)
	}
	opened := false
	defer func() {
		if !opened { // also if the tracer panics
			c.Close()
			log.Close()
		}
	}()
	runner, err := operation.NewRunner(operation.Config{
		Cluster:            c,
		Monitor:            o.Monitor,
		Tracer:             cfg.Tracer,
		Log:                log,
		RetryReads:         valueOr(o.RetryReads, true),
		RetryWrites:        valueOr(o.RetryWrites, true),
		MaxAdaptiveRetries: int(min(valueOr(o.MaxAdaptiveRetries, defaultMaxAdaptiveRetries), math.MaxInt)),
		Retarget:           valueOr(o.EnableOverloadRetargeting, false),
		Limits:             cfg.limits(legacy.socket),
		ServerAPI:          serverAPI(o.ServerAPIOptions),
	})
	if err != nil {
		return nil, fmt.Errorf("mongo: %w", err)
	}
	client := newClient(runner, o, legacy.w)
	client.maxResumeTime = cfg.MaxResumeTime
	opened = true
	return client, nil
}

// clientFields are the client options that are supported. Crypt and Deployment are internal to the official driver; of Custom one value is
// supported, see internalKinds.
var clientFields = supported(
	"AppName", "ConnectTimeout", "Dialer", "Direct", "HeartbeatInterval", "Hosts", "HTTPClient", "LocalThreshold",
	"MaxConnIdleTime", "MaxPoolSize", "MinPoolSize", "MaxConnecting", "PoolMonitor", "Monitor", "ReadConcern", "ReadPreference",
	"BSONOptions", "Registry", "ReplicaSet", "RetryReads", "RetryWrites", "ServerMonitoringMode",
	"ServerSelectionTimeout", "Timeout", "WriteConcern", "MaxAdaptiveRetries", "EnableOverloadRetargeting",
	"LoadBalanced", "Auth", "TLSConfig", "DriverInfo", "DisableOCSPEndpointCheck", "DisableCertificateRevocationCheck",
	"ServerMonitor", "LoggerOptions", "Compressors", "ZlibLevel", "ZstdLevel", "SRVMaxHosts", "SRVServiceName",
	"ServerAPIOptions", "Custom",
)

// validate checks the options before any network use.
func validate(o *options.ClientOptions, srv *srvRecords) error {
	if err := checkURI(o.GetURI()); err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return withoutSecrets(err)
	}
	if err := clientFields.check("ClientOptions", o); err != nil {
		return err
	}
	switch {
	case len(valueOr(o.AppName, "")) > maxAppName:
		return fmt.Errorf("mongo: AppName has %d bytes; it must have at most %d", len(*o.AppName), maxAppName)
	case o.WriteConcern != nil && !o.WriteConcern.IsValid():
		return errors.New("mongo: WriteConcern is invalid: w: 0 cannot be used with j: true")
	}
	for _, err := range []error{checkLevels(o), checkSRVOptions(o, srv), checkLegacyReads(o), topology.CheckReadPreference(o.ReadPreference)} {
		if err != nil {
			return err
		}
	}
	return notNegative(o)
}

func notNegative(o *options.ClientOptions) error {
	for _, d := range []struct {
		name  string
		value *time.Duration
	}{
		{"ConnectTimeout", o.ConnectTimeout},
		{"LocalThreshold", o.LocalThreshold},
		{"MaxConnIdleTime", o.MaxConnIdleTime},
		{"ServerSelectionTimeout", o.ServerSelectionTimeout},
		{"Timeout", o.Timeout},
	} {
		if d.value != nil && *d.value < 0 {
			return fmt.Errorf("mongo: %s is %v; it must not be negative", d.name, *d.value)
		}
	}
	return nil
}

func clusterConfig(o *options.ClientOptions, login *auth.Authenticator) cluster.Config {
	balanced := valueOr(o.LoadBalanced, false)
	cfg := cluster.Config{
		Topology:  topology.Config{Seeds: seeds(o.Hosts), SetName: valueOr(o.ReplicaSet, ""), Direct: o.Direct, LoadBalanced: balanced},
		Streaming: streams(o),
		TLS:       o.TLSConfig,
		Leniency:  leniency(tlsGiven(o.GetURI())), Revocation: revocationCheck(o),
		Auth: login, AuthArbiters: logsInToAnything(o),
		Handshake: cluster.Handshake{
			AppName: valueOr(o.AppName, ""), Library: cluster.DriverInfo(valueOr(o.DriverInfo, options.DriverInfo{})), Compressors: compressors(o),
			ServerAPI: serverAPI(o.ServerAPIOptions), LoadBalanced: balanced,
		},
		ZlibLevel:              o.ZlibLevel,
		ZstdLevel:              o.ZstdLevel,
		ConnectTimeout:         timeoutOrDefault(o.ConnectTimeout),
		HeartbeatInterval:      valueOr(o.HeartbeatInterval, 0),
		ServerSelectionTimeout: timeoutOrDefault(o.ServerSelectionTimeout),
		MaxPoolSize:            valueOr(o.MaxPoolSize, defaultMaxPoolSize),
		MinPoolSize:            valueOr(o.MinPoolSize, 0),
		MaxConnecting:          valueOr(o.MaxConnecting, 0),
		MaxConnIdleTime:        valueOr(o.MaxConnIdleTime, 0),
		PoolMonitor:            o.PoolMonitor,
		ServerMonitor:          o.ServerMonitor,
	}
	if cfg.MaxPoolSize == 0 {
		cfg.MaxPoolSize = math.MaxInt64 // 0 means no limit
	}
	if o.Dialer != nil {
		cfg.Dialer = o.Dialer
	}
	cfg.Proxy, _ = parseProxy(o.GetURI()) // validate has returned its error
	return cfg
}

// seeds returns the hosts with their ports, in lower case. Without hosts it returns localhost:27017.
func seeds(hosts []string) []string {
	if len(hosts) == 0 {
		hosts = []string{"localhost"}
	}
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = canonical(h)
	}
	return out
}

// noTimeout is longer than any program runs.
const noTimeout = 100 * 365 * 24 * time.Hour

// timeoutOrDefault returns a timeout option as package cluster has it: 0 means the default.
func timeoutOrDefault(option *time.Duration) time.Duration {
	switch {
	case option == nil:
		return 0
	case *option == 0:
		return noTimeout
	default:
		return *option
	}
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

const defaultPort = "27017"

// canonical returns a host with its port, in lower case. The path of a Unix domain socket is not changed.
func canonical(host string) string {
	if topology.IsSocketFile(host) {
		return host
	}
	host = strings.ToLower(host)
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
}
