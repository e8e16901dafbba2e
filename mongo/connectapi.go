package mongo

import (
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

var serverAPIFields = honoured("ServerAPIVersion", "Strict", "DeprecationErrors")

// checkServerAPI returns an error for a field of the option ServerAPIOptions that is not honoured. The version was checked
// with the other options.
func checkServerAPI(o *options.ServerAPIOptions) error {
	if o == nil {
		return nil
	}
	return serverAPIFields.check("ServerAPIOptions", o)
}

// serverAPI returns the API version that every command declares, nil if there is none (Stable API specification).
func serverAPI(o *options.ServerAPIOptions) *cluster.ServerAPI {
	if o == nil {
		return nil
	}
	return &cluster.ServerAPI{
		Version: string(o.ServerAPIVersion), Strict: o.Strict, DeprecationErrors: o.DeprecationErrors,
	}
}
