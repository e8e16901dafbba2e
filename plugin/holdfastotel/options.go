package holdfastotel

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	nometric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	notrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Options are the options of New. The zero value follows the environment variables.
type Options struct {
	// Enabled switches traces and metrics on. False means what the environment variable says, else that there are none. To have one of
	// the two, give the provider of the other from a package noop of OpenTelemetry.
	Enabled bool
	// QueryTextMaxLength is the largest number of characters of a command's text (db.query.text); the rest is cut off. 0 means what the environment
	// variable says, else that spans have no text. It must not be negative.
	QueryTextMaxLength int
	// StabilityOptIn chooses the names of the attributes of Couchbase's spans, in the form of the environment variable OTEL_SEMCONV_STABILITY_OPT_IN,
	// which counts if it is empty: "database" for the stable ones, "database/dup" for both, and neither for the old ones. Those of MongoDB's spans
	// have one form.
	StabilityOptIn string
	// TracerProvider makes the spans. Nil means the global one of OpenTelemetry, as it is when New is called.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics. Nil means the global one of OpenTelemetry, as it is when New is called; one that is set later gets them too.
	MeterProvider metric.MeterProvider
}

const (
	enabledVariable = "OTEL_GO_INSTRUMENTATION_MONGODB_ENABLED"
	lengthVariable  = "OTEL_GO_INSTRUMENTATION_MONGODB_QUERY_TEXT_MAX_LENGTH"
	// stabilityVariable is that of all instrumentations for the change to stable names.
	stabilityVariable = "OTEL_SEMCONV_STABILITY_OPT_IN"

	module = "github.com/holdfast-db/holdfast"
	scope  = module + "/mongo" // the name of the instrumentation, by the specification of MongoDB's drivers

	couchbaseScope = module + "/couchbase"
)

// New returns a tracer for the configurations of clients, or nil if traces and metrics are not switched on. It returns an error if an option or an
// environment variable is wrong, or if the provider refuses a metric. Give one tracer to all clients: what is read of pools, budgets and breakers is
// added up for the clients of one tracer.
func New(o Options) (*telemetry.Tracer, error) {
	if o.QueryTextMaxLength < 0 {
		return nil, fmt.Errorf("holdfastotel: Options.QueryTextMaxLength is %d; it must not be negative", o.QueryTextMaxLength)
	}
	if !o.Enabled && !switchedOn(os.Getenv(enabledVariable)) {
		return nil, nil //nolint:nilnil // a client's configuration takes nil
	}
	length, err := lengthOf(os.Getenv(lengthVariable))
	if err != nil {
		return nil, err
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	var traces, made *telemetry.Tracer
	if _, off := o.TracerProvider.(notrace.TracerProvider); !off {
		of := func(scope string) trace.Tracer {
			return o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(version()))
		}
		chosen := conventionsOf(cmp.Or(o.StabilityOptIn, os.Getenv(stabilityVariable)))
		traces = telemetry.Join(newSpans(of(scope), cmp.Or(o.QueryTextMaxLength, length)), newCouchbaseSpans(of(couchbaseScope), chosen))
	}
	if _, off := o.MeterProvider.(nometric.MeterProvider); !off {
		if made, err = newMetrics(o.MeterProvider.Meter(module, metric.WithInstrumentationVersion(version()))); err != nil {
			return nil, fmt.Errorf("holdfastotel: the provider of metrics: %w", err)
		}
	}
	return telemetry.Join(traces, made), nil
}

// switchedOn reports whether a value of the environment variable switches traces on.
func switchedOn(value string) bool {
	switch strings.ToLower(value) {
	case "1", "true", "yes":
		return true
	}
	return false
}

// lengthOf returns the number in the environment variable, 0 without one.
func lengthOf(value string) (int, error) {
	if value == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("holdfastotel: the environment variable %s is %q; it must be a number that is not negative", lengthVariable, value)
	}
	return n, nil
}

// version returns the version of Holdfast that the program was built with, empty if that is not known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return m.Version
		}
	}
	return ""
}
