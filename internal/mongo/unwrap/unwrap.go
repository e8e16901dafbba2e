// Package unwrap lets this module reach the layers below a client of package mongo, whose fields are not exported.
package unwrap

import (
	"net"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// Runner returns the runner of a *mongo.Client. Package mongo sets it.
var Runner func(client any) *operation.Runner

// Connect is mongo.Connect with a mongo.Config: mongo.Open does not take options that have a connection string already. It returns a
// *mongo.Client. Socket, if it is not nil, returns what reads and writes a connection that was dialed. Package mongo sets it.
var Connect func(config any, o *options.ClientOptions, socket func(net.Conn) net.Conn) (client any, err error)
