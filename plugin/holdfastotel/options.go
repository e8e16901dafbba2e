package holdfastotel

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Options are the options of New. The zero value follows the environment variables.
type Options struct {
	// Enabled switches the traces on. False means what the environment variable says, else that there are none.
	Enabled bool
	// QueryTextMaxLength is the largest number of characters of a command's text (db.query.text); the rest is cut off. 0 means what the environment
	// variable says, else that spans have no text. It must not be negative.
	QueryTextMaxLength int
	// TracerProvider makes the spans. Nil means the global one of OpenTelemetry, as it is when New is called.
	TracerProvider trace.TracerProvider
}

const (
	enabledVariable = "OTEL_GO_INSTRUMENTATION_MONGODB_ENABLED"
	lengthVariable  = "OTEL_GO_INSTRUMENTATION_MONGODB_QUERY_TEXT_MAX_LENGTH"

	module = "github.com/holdfast-db/holdfast"
	scope  = module + "/mongo" // the name of the instrumentation
)

// New returns a tracer for the configuration of a client, or nil if traces are not switched on. It returns an error if an option or an environment
// variable is wrong.
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
	s := &spans{
		tracer:    o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(version())),
		maxLength: cmp.Or(o.QueryTextMaxLength, length),
	}
	return &telemetry.Tracer{
		OperationBegan: s.operationBegan, OperationEnded: s.operationEnded,
		AttemptBegan: s.attemptBegan, AttemptEnded: s.attemptEnded,
		TransactionBegan: s.transactionBegan, TransactionEnded: s.transactionEnded,
	}, nil
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
