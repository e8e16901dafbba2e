package couchbase

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fates says for every field of an options struct whether it is supported or refused. A struct that is not here has only the fields
// of commonFields.
var fates = map[reflect.Type]map[string]string{
	reflect.TypeFor[ClusterOptions](): fields(`Authenticator Username Password TimeoutsConfig Transcoder RetryStrategy Tracer Meter
		OrphanReporterConfig CircuitBreakerConfig IoConfig SecurityConfig CompressionConfig AppTelemetryConfig ObservabilityConfig PreferredServerGroup
		InternalConfig`, ``),
	reflect.TypeFor[TimeoutsConfig](): fields(`ConnectTimeout KVTimeout KVDurableTimeout ViewTimeout QueryTimeout AnalyticsTimeout
		SearchTimeout ManagementTimeout KVScanTimeout`, ``),
	reflect.TypeFor[OrphanReporterConfig](): fields(`Disabled ReportInterval SampleSize`, ``),
	reflect.TypeFor[CircuitBreakerConfig](): fields(`Disabled VolumeThreshold ErrorThresholdPercentage SleepWindow RollingWindow CompletionCallback
		CanaryTimeout`, ``),
	reflect.TypeFor[IoConfig]():            fields(`DisableMutationTokens DisableServerDurations`, ``),
	reflect.TypeFor[SecurityConfig]():      fields(`TLSRootCAs TLSSkipVerify AllowedSaslMechanisms`, ``),
	reflect.TypeFor[CompressionConfig]():   fields(`Disabled MinSize MinRatio`, ``),
	reflect.TypeFor[AppTelemetryConfig]():  fields(`Disabled`, `ExternalEndpoint Backoff PingInterval PingTimeout`),
	reflect.TypeFor[ObservabilityConfig](): fields(`SemanticConventionOptIn`, ``),
	reflect.TypeFor[InternalConfig]():      fields(`TLSRootCAProvider`, `ConnectionBufferSize`),
}

func fields(supported, refused string) map[string]string {
	all := make(map[string]string)
	for _, name := range strings.Fields(supported) {
		all[name] = "supported"
	}
	for _, name := range strings.Fields(refused) {
		all[name] = "refused"
	}
	return all
}

// Every field of the cluster's options is in the table, and every row of the table is a field.
func TestEveryClusterOptionHasAFate(t *testing.T) {
	for typ, fate := range fates {
		table := maps.Clone(fate)
		for i := range typ.NumField() {
			name := typ.Field(i).Name
			if table[name] == "" {
				t.Errorf("%s.%s is neither supported nor refused", typ.Name(), name)
			}
			delete(table, name)
		}
		for name := range table {
			t.Errorf("%s has no field %s", typ.Name(), name)
		}
	}
}

func open(connStr string, o ClusterOptions) (*settings, error) {
	if o.Authenticator == nil && o.Username == "" {
		o.Username = "u"
	}
	return readSettings(connStr, Config{}, &o)
}

func TestClusterOptionsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		connStr string
		options ClusterOptions
		says    string
	}{
		{"an empty user", "couchbase://h", ClusterOptions{Password: "p"}, "Username is empty"},
		{"a user beside an authenticator", "couchbase://h", ClusterOptions{Authenticator: PasswordAuthenticator{}, Username: "x"}, "exclude each other"},
		{"a certificate without TLS", "couchbase://h", ClusterOptions{Authenticator: CertificateAuthenticator{}}, "needs TLS"},
		{"a negative timeout", "couchbase://h", ClusterOptions{TimeoutsConfig: TimeoutsConfig{KVTimeout: -1}}, "TimeoutsConfig.KVTimeout"},
		{"a negative window", "couchbase://h", ClusterOptions{CircuitBreakerConfig: CircuitBreakerConfig{SleepWindow: -1}}, "CircuitBreakerConfig.SleepWindow"},
		{"an impossible percentage", "couchbase://h", ClusterOptions{CircuitBreakerConfig: CircuitBreakerConfig{ErrorThresholdPercentage: 101}}, "CircuitBreakerConfig"},
		{"telemetry", "couchbase://h", ClusterOptions{AppTelemetryConfig: AppTelemetryConfig{Backoff: 1}}, "AppTelemetryConfig"},
		{
			"a convention that does not exist", "couchbase://h",
			ClusterOptions{ObservabilityConfig: ObservabilityConfig{SemanticConventionOptIn: []ObservabilitySemanticConvention{1, 3}}},
			"SemanticConventionOptIn has 3",
		},
		{"a buffer size", "couchbase://h", ClusterOptions{InternalConfig: InternalConfig{ConnectionBufferSize: 1}}, "ConnectionBufferSize"},
		{"an impossible ratio", "couchbase://h", ClusterOptions{CompressionConfig: CompressionConfig{MinRatio: 2}}, "MinRatio"},
		{"an unknown mechanism", "couchbase://h", ClusterOptions{SecurityConfig: SecurityConfig{AllowedSaslMechanisms: []SaslMechanism{"X"}}}, `"X"`},
		{"couchbase2", "couchbase2://h", ClusterOptions{}, "couchbase2"},
		{"http", "http://h", ClusterOptions{}, "http"},
		{"https", "https://h", ClusterOptions{}, "https"},
		{"a bucket in the string", "couchbase://h/bucket", ClusterOptions{}, "Cluster.Bucket"},
		{"an unknown option", "couchbase://h?bogus=1", ClusterOptions{}, `"bogus"`},
		{"an option twice", "couchbase://h?kv_timeout=1s&kv_timeout=2s", ClusterOptions{}, "2 times"},
		{"a timeout that is none", "couchbase://h?kv_timeout=abc", ClusterOptions{}, "kv_timeout"},
		{"a timeout of nothing", "couchbase://h?query_timeout=0", ClusterOptions{}, "not positive"},
		{"a timeout beyond all limits", "couchbase://h?kv_timeout=99999999999999999", ClusterOptions{}, "too long"},
		{"a timeout below all limits", "couchbase://h?kv_timeout=-9223372036854775807", ClusterOptions{}, "not positive"},
		{"a queue that no connection can have", "couchbase://h?max_queue_size=32769", ClusterOptions{}, "max_queue_size"},
		{"a boolean that is none", "couchbase://h?compression=maybe", ClusterOptions{}, "maybe"},
		{"several connections", "couchbase://h?kv_pool_size=2", ClusterOptions{}, "kv_pool_size"},
		{"maps over HTTP", "couchbase://h?bootstrap_on=http", ClusterOptions{}, "bootstrap_on"},
		{"a buffer size in the string", "couchbase://h?kv_buffer_size=5", ClusterOptions{}, "kv_buffer_size"},
		{"a backoff in the string", "couchbase://h?server_wait_backoff=5", ClusterOptions{}, "server_wait_backoff"},
		{"a file that is not there", "couchbase://h?ca_cert_path=/nowhere", ClusterOptions{}, "ca_cert_path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := open(c.connStr, c.options)
			if c.options.Password == "p" {
				_, err = readSettings(c.connStr, Config{}, &c.options)
			}
			if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestOptionsOfTheConnectionStringWin(t *testing.T) {
	s, err := open("couchbase://h?kv_timeout=5s&query_timeout=7000&compression=off&enable_mutation_tokens=false&network=external&"+
		"max_queue_size=7&config_poll_interval=1s&orphaned_response_logging=false&enable_cluster_config_notifications=0&unordered_execution_enabled=0",
		ClusterOptions{TimeoutsConfig: TimeoutsConfig{KVTimeout: time.Hour, ViewTimeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	if s.timeouts.KVTimeout != 5*time.Second || s.timeouts.QueryTimeout != 7*time.Second || s.timeouts.ViewTimeout != time.Minute ||
		s.timeouts.KVDurableTimeout != 10*time.Second || !s.compression.Disabled || !s.io.DisableMutationTokens || s.cluster.Network != "external" ||
		s.cluster.KV.MaxQueue != 7 || s.cluster.PollInterval != time.Second || !s.orphans.Disabled || !s.noPushedMaps || !s.ordered {
		t.Errorf("%+v", s)
	}
}
