package call

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// rawDataCommands are the commands that may have rawData, which asks for the buckets of a time series. mongotest has no buckets, so
// the field changes nothing.
var rawDataCommands = []string{
	"aggregate", "bulkWrite", "count", "createIndexes", "delete", "distinct", "dropIndexes", "find", "findAndModify", "hello", "insert",
	"listCollections", "listIndexes", "update",
}

func (c *Command) rawDataField(e *wire.Element) error {
	if e.Type != bson.TypeBoolean {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "Field 'rawData' should be a boolean value, but found: %s", query.TypeName(e.Type))
	}
	c.rawData = true
	return nil
}

// checkRawData refuses rawData before MongoDB 8.2, and in other commands.
func (c *Command) checkRawData(v version.Version) error {
	switch {
	case !c.rawData:
		return nil
	case !v.AtLeast(8, 2):
		return fields.Unknown(c.Name, "rawData")
	case !slices.Contains(rawDataCommands, c.Name):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command does not support the rawData option")
	}
	return nil
}
