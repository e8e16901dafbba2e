package mongo

import (
	"os"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// streams reports whether servers may stream their hellos to the monitors (serverMonitoringMode). The option takes precedence
// over the connection string, which the official parser checks but does not apply.
func streams(o *options.ClientOptions) bool {
	switch valueOr(o.ServerMonitoringMode, uriValue(o.GetURI(), "servermonitoringmode")) {
	case options.ServerMonitoringModeStream:
		return true
	case options.ServerMonitoringModePoll:
		return false
	default:
		return !inFunction(os.Getenv)
	}
}

// inFunction reports whether the program runs as a function of a cloud provider, which is frozen between its calls: a stream
// would break each time. The variables are those of the MongoDB Handshake specification.
func inFunction(environment func(string) string) bool {
	if strings.HasPrefix(environment("AWS_EXECUTION_ENV"), "AWS_Lambda_") {
		return true
	}
	for _, name := range []string{"AWS_LAMBDA_RUNTIME_API", "FUNCTIONS_WORKER_RUNTIME", "K_SERVICE", "FUNCTION_NAME", "VERCEL"} {
		if environment(name) != "" {
			return true
		}
	}
	return false
}
