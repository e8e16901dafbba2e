package dropin

// different has the names that cannot be the same, with the reason.
var different = map[string]string{
	"InternalBucket.IORouter":   "its result is the agent of gocbcore, which only gocb has",
	"OtelAwareMeter":            "its methods return types of OpenTelemetry, which package couchbase does not import",
	"OtelAwareRequestSpan":      "its method returns a type of OpenTelemetry, which package couchbase does not import",
	"OtelAwareRequestTracer":    "its methods return types of OpenTelemetry, which package couchbase does not import",
	"MutationStateInternal.Add": "its argument is a token of gocbcore, which only gocb has",
}
