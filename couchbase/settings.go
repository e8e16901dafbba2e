package couchbase

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/connstr"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// settings are what a connection string and ClusterOptions say together.
type settings struct {
	credentials  *credentials
	timeouts     TimeoutsConfig
	transcoder   Transcoder
	strategy     RetryStrategy
	tracer       RequestTracer
	meter        Meter
	orphans      OrphanReporterConfig
	breaker      CircuitBreakerConfig
	io           IoConfig
	security     SecurityConfig
	compression  CompressionConfig
	conventions  conventions
	serverGroup  string
	http         httpSettings
	ordered      bool
	noPushedMaps bool
	cluster      cluster.Config
}

// httpSettings configure the connections to HTTP services. Zero means the default.
type httpSettings struct {
	maxIdle, maxPerHost, maxIdlePerHost int
	idleTimeout, connectTimeout         time.Duration
}

// readSettings reads the connection string and the options, and checks them. It uses no network.
func readSettings(connStr string, cfg Config, opts *ClusterOptions) (*settings, error) {
	cs, err := connstr.Parse(connStr)
	if err != nil {
		return nil, fmt.Errorf("%w%w", invalid("%v", err), silent{err})
	}
	if cs.Bucket != "" {
		return nil, invalid("the connection string has a path; open the bucket with Cluster.Bucket")
	}
	s := &settings{
		timeouts: opts.TimeoutsConfig, transcoder: opts.Transcoder, strategy: opts.RetryStrategy,
		tracer: opts.Tracer, meter: opts.Meter, orphans: opts.OrphanReporterConfig, breaker: opts.CircuitBreakerConfig, io: opts.IoConfig,
		security: opts.SecurityConfig, compression: opts.CompressionConfig, serverGroup: opts.PreferredServerGroup,
	}
	for _, step := range []func() error{
		func() error { return s.checkOptions(opts) },
		func() (err error) { s.conventions, err = opts.ObservabilityConfig.conventions(); return err },
		func() error { return s.readOptions(cs.Options) },
		func() error { return s.checkTimes() },
		func() error { return s.chooseAuthenticator(opts, cs.TLS) },
		s.configureBreaker,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	s.configureConnections(cs, cfg, opts)
	if s.transcoder == nil {
		s.transcoder = NewJSONTranscoder()
	}
	return s, nil
}

// checkOptions refuses the fields that are not supported.
func (s *settings) checkOptions(opts *ClusterOptions) error {
	telemetry := opts.AppTelemetryConfig
	telemetry.Disabled = false
	switch {
	case telemetry != AppTelemetryConfig{}:
		return invalid("AppTelemetryConfig has more than Disabled, but the client sends no telemetry")
	case opts.InternalConfig.ConnectionBufferSize != 0:
		return invalid("InternalConfig.ConnectionBufferSize is not supported: the client gives each connection a buffer that grows")
	case s.compression.MinRatio < 0 || s.compression.MinRatio > 1 || s.compression.MinRatio != s.compression.MinRatio:
		return invalid("CompressionConfig.MinRatio is %v; it must be from 0 to 1", s.compression.MinRatio)
	}
	return nil
}

// checkTimes refuses negative times, and fills in the defaults of zero ones.
func (s *settings) checkTimes() error {
	const service = 75 * time.Second
	for _, t := range []struct {
		name     string
		field    *time.Duration
		fallback time.Duration
	}{
		{"TimeoutsConfig.ConnectTimeout", &s.timeouts.ConnectTimeout, 10 * time.Second},
		{"TimeoutsConfig.KVTimeout", &s.timeouts.KVTimeout, 2500 * time.Millisecond},
		{"TimeoutsConfig.KVDurableTimeout", &s.timeouts.KVDurableTimeout, 10 * time.Second},
		{"TimeoutsConfig.KVScanTimeout", &s.timeouts.KVScanTimeout, 0},
		{"TimeoutsConfig.ViewTimeout", &s.timeouts.ViewTimeout, service},
		{"TimeoutsConfig.QueryTimeout", &s.timeouts.QueryTimeout, service},
		{"TimeoutsConfig.AnalyticsTimeout", &s.timeouts.AnalyticsTimeout, service},
		{"TimeoutsConfig.SearchTimeout", &s.timeouts.SearchTimeout, service},
		{"TimeoutsConfig.ManagementTimeout", &s.timeouts.ManagementTimeout, service},
		{"OrphanReporterConfig.ReportInterval", &s.orphans.ReportInterval, 10 * time.Second},
		{"CircuitBreakerConfig.SleepWindow", &s.breaker.SleepWindow, 5 * time.Second},
		{"CircuitBreakerConfig.RollingWindow", &s.breaker.RollingWindow, time.Minute},
		{"CircuitBreakerConfig.CanaryTimeout", &s.breaker.CanaryTimeout, 5 * time.Second},
	} {
		if *t.field < 0 {
			return invalid("%s is %v; it must not be negative", t.name, *t.field)
		}
		if *t.field == 0 {
			*t.field = t.fallback
		}
	}
	return nil
}

// chooseAuthenticator takes the authenticator from the options, and makes the login of the connections.
func (s *settings) chooseAuthenticator(opts *ClusterOptions, secure bool) error {
	authenticator, option := opts.Authenticator, "Authenticator"
	named := opts.Username != "" || opts.Password != ""
	switch {
	case authenticator != nil && named:
		return invalid("Authenticator and Username or Password exclude each other")
	case authenticator == nil && opts.Username == "":
		return invalid("Username is empty, and there is no Authenticator")
	case authenticator == nil:
		authenticator, option = PasswordAuthenticator{Username: opts.Username, Password: opts.Password}, "Username and Password"
	}
	s.credentials = &credentials{secure: secure, allowed: slices.Clone(s.security.AllowedSaslMechanisms)}
	first, err := s.credentials.accept(authenticator, option)
	if err != nil {
		return err
	}
	s.credentials.kind = first.kind()
	s.credentials.current.Store(&authenticator)
	s.cluster.KV.Login, err = s.credentials.login(&first)
	return err
}

// configureConnections fills in the configuration of the connections.
func (s *settings) configureConnections(cs *connstr.ConnString, cfg Config, opts *ClusterOptions) {
	c := &s.cluster
	c.Seeds, c.SRV, c.Resolve = cs.Addresses(), cs.SRV(), cfg.resolve
	c.KV.Dial, c.KV.Agent, c.KV.ClientID = cfg.Dial, Identifier(), rand.Uint64()
	c.KV.Timeout, c.KV.Features = s.timeouts.ConnectTimeout, s.features(cs.TLS)
	c.KV.CompressMinSize, c.KV.CompressMinRatio = int(s.compression.MinSize), s.compression.MinRatio
	if cs.TLS {
		c.KV.TLS = s.tlsConfig(opts.InternalConfig.TLSRootCAProvider)
	}
	s.cluster.LoginTimeout = s.timeouts.KVTimeout
}

// features returns what the client asks of each node, in gocb's order.
func (s *settings) features(secure bool) []memd.Feature {
	var all []memd.Feature
	for _, f := range []struct {
		feature memd.Feature
		wanted  bool
	}{
		{memd.FeatureTLS, secure},
		{memd.FeatureXattr, true},
		{memd.FeatureSelectBucket, true},
		{memd.FeatureDedupeMaps, true},
		{memd.FeatureKnownMapVersion, true},
		{memd.FeatureDuplex, !s.noPushedMaps},
		{memd.FeatureXerror, true},
		{memd.FeatureJSON, true},
		{memd.FeatureMutationTokens, !s.io.DisableMutationTokens},
		{memd.FeatureSnappy, !s.compression.Disabled},
		{memd.FeatureSnappyEverywhere, !s.compression.Disabled},
		{memd.FeatureServerDurations, !s.io.DisableServerDurations},
		{memd.FeatureCollections, true},
		{memd.FeatureUnorderedExecution, !s.ordered},
		{memd.FeatureBriefMapPush, !s.noPushedMaps},
		{memd.FeatureFlexibleRequests, true},
		{memd.FeatureCreateAsDeleted, true},
		{memd.FeatureReplaceBodyWithXattr, true},
		{memd.FeaturePreserveExpiry, true},
		{memd.FeatureReplicaLookup, true},
		{memd.FeatureDurability, true},
	} {
		if f.wanted {
			all = append(all, f.feature)
		}
	}
	return all
}

// tlsConfig returns the configuration of TLS connections.
func (s *settings) tlsConfig(provider func() *x509.CertPool) *tls.Config {
	roots := s.security.TLSRootCAs
	if provider != nil {
		roots = provider()
	}
	return &tls.Config{
		MinVersion:           tls.VersionTLS12,
		RootCAs:              roots,
		InsecureSkipVerify:   s.security.TLSSkipVerify, //nolint:gosec // the option's meaning
		GetClientCertificate: s.credentials.certificate,
	}
}

// configureBreaker fills in the configuration of the breakers.
func (s *settings) configureBreaker() error {
	b := s.breaker
	if b.Disabled {
		return nil
	}
	o := retry.DefaultBreakerOptions()
	if b.VolumeThreshold != 0 {
		o.Volume = int(b.VolumeThreshold)
	}
	if b.ErrorThresholdPercentage != 0 {
		o.Percent = b.ErrorThresholdPercentage
	}
	o.OpenTimeout, o.Window = b.SleepWindow, b.RollingWindow
	if _, err := retry.NewBreaker(*o); err != nil {
		return fmt.Errorf("%w%w", invalid("CircuitBreakerConfig: %v", err), silent{err})
	}
	s.cluster.Breaker = &cluster.Breaker{Options: *o, ProbeTimeout: b.CanaryTimeout}
	if callback := b.CompletionCallback; callback != nil {
		s.cluster.Breaker.Good = func(err error) bool {
			if errors.Is(err, kv.ErrDeadline) {
				err = ErrTimeout
			}
			return callback(err)
		}
	}
	return nil
}
