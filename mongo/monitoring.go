package mongo

import (
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
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
		return !new(cluster.Environment).InFunction() // a function is frozen between its calls: a stream would break each time
	}
}
