package mongo

import (
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

// serverAPI returns the API version that every command declares, nil if there is none (Stable API specification).
func serverAPI(o *options.ServerAPIOptions) *cluster.ServerAPI {
	if o == nil {
		return nil
	}
	return &cluster.ServerAPI{
		Version: string(o.ServerAPIVersion), Strict: o.Strict, DeprecationErrors: o.DeprecationErrors,
	}
}
