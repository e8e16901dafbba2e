package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var collectionOperations = map[string]function[*mongoCollection]{
	"aggregate":              aggregate,
	"bulkWrite":              bulkWrite,
	"countDocuments":         countDocuments,
	"createChangeStream":     watchCollection,
	"createFindCursor":       createFindCursor,
	"createIndex":            createIndex,
	"createSearchIndex":      createSearchIndex,
	"createSearchIndexes":    createSearchIndexes,
	"deleteMany":             deleteMany,
	"deleteOne":              deleteOne,
	"distinct":               distinct,
	"dropIndex":              dropIndex,
	"dropIndexes":            dropIndexes,
	"dropSearchIndex":        dropSearchIndex,
	"estimatedDocumentCount": estimatedDocumentCount,
	"find":                   findDocuments,
	"findOne":                findOne,
	"findOneAndDelete":       findOneAndDelete,
	"findOneAndReplace":      findOneAndReplace,
	"findOneAndUpdate":       findOneAndUpdate,
	"insertMany":             insertMany,
	"insertOne":              insertOne,
	"listIndexNames":         listIndexNames,
	"listIndexes":            listIndexes,
	"listSearchIndexes":      listSearchIndexes,
	"rename":                 rename,
	"replaceOne":             replaceOne,
	"updateMany":             updateMany,
	"updateOne":              updateOne,
	"updateSearchIndex":      updateSearchIndex,
}

// rename runs the command, for which clients have no method.
func rename(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	db := c.Database()
	command := bson.D{
		{Key: "renameCollection", Value: db.Name() + "." + c.Name()},
		{Key: "to", Value: db.Name() + "." + a.text("to")},
	}
	if v := a.optional("dropTarget"); v.Type != 0 {
		command = append(command, bson.E{Key: "dropTarget", Value: v})
	}
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, db.Client().Database("admin").RunCommand(ctx, command).Err()
}
