package mongo

import (
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

// AppendDriverInfo adds a library that wraps the client, such as an object mapper, to the metadata that the client sends
// when it makes a connection. Open connections do not change. Adding the same library again changes nothing. The metadata
// is limited to 512 bytes (MongoDB Handshake specification). A field may contain "|", which separates the libraries: the
// specification forbids it, but the official driver accepts it, here and in ClientOptions.
func (c *Client) AppendDriverInfo(info options.DriverInfo) {
	if c.runner != nil { // a zero value has none
		c.runner.Cluster().AppendDriverInfo(cluster.DriverInfo(info))
	}
}
