// Package unwrap lets this module reach the layers below a client of package mongo, whose fields are not exported.
package unwrap

import "github.com/holdfast-db/holdfast/internal/mongo/operation"

// Runner returns the runner of a *mongo.Client. Package mongo sets it.
var Runner func(client any) *operation.Runner
