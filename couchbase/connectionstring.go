package couchbase

import (
	"crypto/x509"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

// stringOption reads one option of a connection string.
type stringOption func(s *settings, value string) error

// stringOptions are the options of connection strings, by name (RFC 0011 and the options that gocb reads).
var stringOptions = map[string]stringOption{
	"kv_timeout":                            durationOption(func(s *settings) *time.Duration { return &s.timeouts.KVTimeout }),
	"kv_durable_timeout":                    durationOption(func(s *settings) *time.Duration { return &s.timeouts.KVDurableTimeout }),
	"kv_scan_timeout":                       durationOption(func(s *settings) *time.Duration { return &s.timeouts.KVScanTimeout }),
	"kv_connect_timeout":                    durationOption(func(s *settings) *time.Duration { return &s.timeouts.ConnectTimeout }),
	"query_timeout":                         durationOption(func(s *settings) *time.Duration { return &s.timeouts.QueryTimeout }),
	"search_timeout":                        durationOption(func(s *settings) *time.Duration { return &s.timeouts.SearchTimeout }),
	"analytics_timeout":                     durationOption(func(s *settings) *time.Duration { return &s.timeouts.AnalyticsTimeout }),
	"view_timeout":                          durationOption(func(s *settings) *time.Duration { return &s.timeouts.ViewTimeout }),
	"management_timeout":                    durationOption(func(s *settings) *time.Duration { return &s.timeouts.ManagementTimeout }),
	"config_poll_interval":                  durationOption(func(s *settings) *time.Duration { return &s.cluster.PollInterval }),
	"config_poll_timeout":                   durationOption(func(s *settings) *time.Duration { return &s.cluster.PollTimeout }),
	"network":                               networkOption,
	"compression":                           boolOption(func(s *settings, on bool) { s.compression.Disabled = !on }),
	"compression_min_size":                  compressionMinSize,
	"compression_min_ratio":                 compressionMinRatio,
	"enable_mutation_tokens":                boolOption(func(s *settings, on bool) { s.io.DisableMutationTokens = !on }),
	"enable_server_durations":               boolOption(func(s *settings, on bool) { s.io.DisableServerDurations = !on }),
	"unordered_execution_enabled":           boolOption(func(s *settings, on bool) { s.ordered = !on }),
	"enable_cluster_config_notifications":   boolOption(func(s *settings, on bool) { s.noPushedMaps = !on }),
	"orphaned_response_logging":             boolOption(func(s *settings, on bool) { s.orphans.Disabled = !on }),
	"orphaned_response_logging_interval":    durationOption(func(s *settings) *time.Duration { return &s.orphans.ReportInterval }),
	"orphaned_response_logging_sample_size": countOption(func(s *settings, n int) { s.orphans.SampleSize = uint32(n) }),
	"max_idle_http_connections":             countOption(func(s *settings, n int) { s.http.maxIdle = n }),
	"max_perhost_http_connections":          countOption(func(s *settings, n int) { s.http.maxPerHost = n }),
	"max_perhost_idle_http_connections":     countOption(func(s *settings, n int) { s.http.maxIdlePerHost = n }),
	"idle_http_connection_timeout":          durationOption(func(s *settings) *time.Duration { return &s.http.idleTimeout }),
	"http_connect_timeout":                  durationOption(func(s *settings) *time.Duration { return &s.http.connectTimeout }),
	"max_queue_size":                        maxQueueSize,
	"kv_pool_size":                          oneConnection,
	"bootstrap_on":                          bootstrapOn,
	"ca_cert_path":                          caCertPath,
	"kv_buffer_size":                        refusedOption("the client gives each connection a buffer that grows"),
	"server_wait_backoff":                   refusedOption("the client connects again after 10 ms, growing to 5 s"),
}

// readOptions reads the options of a connection string into s.
func (s *settings) readOptions(options url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		values := options[name]
		read, known := stringOptions[name]
		switch {
		case !known:
			return invalid("the connection string has the option %q, which does not exist", name)
		case len(values) != 1:
			return invalid("the connection string has the option %q %d times", name, len(values))
		}
		if err := read(s, values[0]); err != nil {
			return fmt.Errorf("%w%w", invalid("option %s of the connection string: %v", name, err), silent{err})
		}
	}
	return nil
}

// durationOption reads a Go duration, or milliseconds.
func durationOption(field func(*settings) *time.Duration) stringOption {
	return func(s *settings, value string) error {
		d, err := time.ParseDuration(value)
		if ms, numberErr := strconv.ParseInt(value, 10, 64); numberErr == nil {
			const most = math.MaxInt64 / int64(time.Millisecond)
			if ms > most {
				return fmt.Errorf("%q is too long", value)
			}
			ms = max(ms, -most) // it is refused below
			d, err = time.Duration(ms)*time.Millisecond, nil
		}
		switch {
		case err != nil:
			return fmt.Errorf("%q is neither a duration such as 2.5s nor a number of milliseconds", value)
		case d <= 0:
			return fmt.Errorf("%q is not positive", value)
		}
		*field(s) = d
		return nil
	}
}

func boolOption(set func(s *settings, on bool)) stringOption {
	return func(s *settings, value string) error {
		switch value {
		case "true", "1", "on":
			set(s, true)
		case "false", "0", "off":
			set(s, false)
		default:
			return fmt.Errorf("%q is neither true nor false", value)
		}
		return nil
	}
}

func countOption(set func(s *settings, n int)) stringOption {
	return func(s *settings, value string) error {
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Errorf("%q is not a number from 0 to 2147483647", value)
		}
		set(s, int(n))
		return nil
	}
}

func maxQueueSize(s *settings, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || n > kv.MostMaxQueue {
		return fmt.Errorf("%q is not a number of operations from 0 to %d", value, kv.MostMaxQueue)
	}
	s.cluster.KV.MaxQueue = int(n)
	return nil
}

func networkOption(s *settings, value string) error {
	if value == "" {
		return fmt.Errorf("it is empty; it must be auto, %s or the name of an alternate network", clustermap.DefaultNetwork)
	}
	s.cluster.Network = value
	return nil
}

func compressionMinSize(s *settings, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return fmt.Errorf("%q is not a number of bytes", value)
	}
	s.compression.MinSize = uint32(n)
	return nil
}

func compressionMinRatio(s *settings, value string) error {
	ratio, err := strconv.ParseFloat(value, 64)
	if err != nil || !(ratio > 0 && ratio <= 1) {
		return fmt.Errorf("%q is not a number above 0 and at most 1", value)
	}
	s.compression.MinRatio = ratio
	return nil
}

func oneConnection(_ *settings, value string) error {
	if value != "1" {
		return fmt.Errorf("%q: the client has one connection to each node, which carries any number of operations side by side", value)
	}
	return nil
}

func bootstrapOn(_ *settings, value string) error {
	switch value {
	case "cccp", "both":
		return nil
	default:
		return fmt.Errorf("%q: the client gets its maps on key-value connections; it must be cccp or both", value)
	}
}

func caCertPath(s *settings, value string) error {
	pem, err := os.ReadFile(value)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%q has no certificate", value)
	}
	s.security.TLSRootCAs = pool
	return nil
}

func refusedOption(why string) stringOption {
	return func(*settings, string) error { return fmt.Errorf("it is not supported: %s", why) }
}
