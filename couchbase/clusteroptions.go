package couchbase

import (
	"crypto/x509"
	"fmt"
	"time"
)

// ClusterOptions are the options of [Connect]. Options of the connection string win over them.
type ClusterOptions struct {
	// Authenticator has the credentials. Nil means Username and Password.
	Authenticator Authenticator
	Username      string
	Password      string

	TimeoutsConfig TimeoutsConfig
	// Transcoder is used by operations without one of their own. Nil means a [JSONTranscoder].
	Transcoder Transcoder
	// RetryStrategy is used by operations without one of their own. Nil means a [BestEffortRetryStrategy].
	RetryStrategy RetryStrategy
	// Tracer makes the spans of operations. Nil means a [ThresholdLoggingTracer], which logs slow operations.
	Tracer RequestTracer
	// Meter counts and measures operations. Nil means a [LoggingMeter].
	Meter Meter

	OrphanReporterConfig OrphanReporterConfig
	CircuitBreakerConfig CircuitBreakerConfig
	IoConfig             IoConfig
	SecurityConfig       SecurityConfig
	CompressionConfig    CompressionConfig
	AppTelemetryConfig   AppTelemetryConfig
	ObservabilityConfig  ObservabilityConfig

	// PreferredServerGroup names the server group for reads with [ReadPreferenceSelectedServerGroup].
	PreferredServerGroup string

	InternalConfig InternalConfig
}

// String returns the options without the password.
func (opts ClusterOptions) String() string { return fmt.Sprintf("%+v", opts.withoutPassword()) }

// GoString returns the options without the password.
func (opts ClusterOptions) GoString() string { return fmt.Sprintf("%#v", opts.withoutPassword()) }

// shownOptions are ClusterOptions without its methods.
type shownOptions ClusterOptions

func (opts *ClusterOptions) withoutPassword() shownOptions {
	shown := shownOptions(*opts)
	if shown.Password != "" {
		shown.Password = "[hidden]"
	}
	return shown
}

// TimeoutsConfig has the timeouts of operations without one of their own. Zero means the default.
type TimeoutsConfig struct {
	ConnectTimeout    time.Duration // of a connection and its handshake; default 10 s
	KVTimeout         time.Duration // default 2.5 s
	KVDurableTimeout  time.Duration // of writes with a durability level, PersistTo or ReplicateTo; default 10 s
	KVScanTimeout     time.Duration // of range scans, which this client does not do: any value that is not negative is accepted
	ViewTimeout       time.Duration // default 75 s
	QueryTimeout      time.Duration // default 75 s
	AnalyticsTimeout  time.Duration // default 75 s
	SearchTimeout     time.Duration // default 75 s
	ManagementTimeout time.Duration // default 75 s
}

// OrphanReporterConfig configures the log of replies that came after their caller had left.
type OrphanReporterConfig struct {
	Disabled       bool
	ReportInterval time.Duration // default 10 s
	SampleSize     uint32        // replies in a report; default 10
}

// CircuitBreakerCallback reports whether an error counts as a failure of the node.
type CircuitBreakerCallback func(error) bool

// CircuitBreakerConfig configures the breaker of each node. While a breaker is open, operations on its node are not sent.
type CircuitBreakerConfig struct {
	Disabled                 bool
	VolumeThreshold          int64                  // the attempts that must have been made before it can open; default 20
	ErrorThresholdPercentage float64                // the part of failures at which it opens; default 50
	SleepWindow              time.Duration          // the time until it sends a canary; default 5 s
	RollingWindow            time.Duration          // the time for which an attempt counts; default 60 s
	CompletionCallback       CircuitBreakerCallback // nil: timeouts count
	CanaryTimeout            time.Duration          // default 5 s
}

// IoConfig configures what the client asks of nodes.
type IoConfig struct {
	DisableMutationTokens  bool
	DisableServerDurations bool
}

// SecurityConfig configures TLS and logins.
type SecurityConfig struct {
	TLSRootCAs    *x509.CertPool // nil: those of the system, and Capella's
	TLSSkipVerify bool           // certificates of nodes are not verified
	// AllowedSaslMechanisms are the ways to log in, in the order of preference. Empty means SCRAM without TLS, and PLAIN over TLS.
	AllowedSaslMechanisms []SaslMechanism
}

// CompressionConfig configures the compression of documents that are sent.
type CompressionConfig struct {
	Disabled bool
	MinSize  uint32  // bytes; default 32
	MinRatio float64 // a compressed document is sent if it is smaller than this part of the document; default 0.83
}

// AppTelemetryConfig configures reports to the cluster about its clients. This client sends none: Disabled is accepted, and every other
// field is an error.
type AppTelemetryConfig struct {
	Disabled         bool
	ExternalEndpoint string
	Backoff          time.Duration
	PingInterval     time.Duration
	PingTimeout      time.Duration
}

// InternalConfig has options that few applications need.
type InternalConfig struct {
	TLSRootCAProvider    func() *x509.CertPool // replaces SecurityConfig.TLSRootCAs
	ConnectionBufferSize uint                  // bytes; accepted without effect: a connection reads into a buffer that grows
}

// ClusterConfigProfile names a set of options.
type ClusterConfigProfile string

// ClusterConfigProfileWanDevelopment has long timeouts, for a cluster that is far away.
const ClusterConfigProfileWanDevelopment ClusterConfigProfile = "wan-development"

// ApplyProfile sets the options of a profile.
func (opts *ClusterOptions) ApplyProfile(profile ClusterConfigProfile) error {
	if profile != ClusterConfigProfileWanDevelopment {
		return invalid("there is no profile %q", profile)
	}
	const keyValue, others = 20 * time.Second, 120 * time.Second
	opts.TimeoutsConfig = TimeoutsConfig{
		ConnectTimeout: keyValue, KVTimeout: keyValue, KVDurableTimeout: keyValue, KVScanTimeout: keyValue,
		ViewTimeout: others, QueryTimeout: others, AnalyticsTimeout: others, SearchTimeout: others, ManagementTimeout: others,
	}
	return nil
}
