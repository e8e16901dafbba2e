package rules

import "strings"

// mongoKind is the kind of a MongoDB operation.
type mongoKind uint8

const (
	mongoRead mongoKind = iota
	mongoWrite
	mongoCommand // of runCommand
	mongoEnd     // of a transaction
)

// MongoOperation is an operation of the MongoDB client.
type MongoOperation struct {
	Name string
	kind mongoKind
	// listed means that the specification lists the operation as retryable.
	listed bool
	// pinned means that the operation goes to the server of its cursor.
	pinned bool
}

var mongoOperations = []MongoOperation{
	{Name: "find", kind: mongoRead, listed: true},
	{Name: "findOne", kind: mongoRead, listed: true},
	{Name: "aggregate", kind: mongoRead, listed: true},
	{Name: "aggregateOut", kind: mongoWrite},
	{Name: "aggregateMerge", kind: mongoWrite},
	{Name: "countDocuments", kind: mongoRead, listed: true},
	{Name: "estimatedDocumentCount", kind: mongoRead, listed: true},
	{Name: "distinct", kind: mongoRead, listed: true},
	{Name: "watch", kind: mongoRead, listed: true},
	{Name: "listDatabases", kind: mongoRead, listed: true},
	{Name: "listCollections", kind: mongoRead, listed: true},
	{Name: "listIndexes", kind: mongoRead, listed: true},
	{Name: "getMore", kind: mongoRead, pinned: true},
	{Name: "runCommand", kind: mongoCommand},
	{Name: "insertOne", kind: mongoWrite, listed: true},
	{Name: "insertMany", kind: mongoWrite, listed: true},
	{Name: "updateOne", kind: mongoWrite, listed: true},
	{Name: "replaceOne", kind: mongoWrite, listed: true},
	{Name: "deleteOne", kind: mongoWrite, listed: true},
	{Name: "findOneAndUpdate", kind: mongoWrite, listed: true},
	{Name: "findOneAndReplace", kind: mongoWrite, listed: true},
	{Name: "findOneAndDelete", kind: mongoWrite, listed: true},
	{Name: "bulkWrite", kind: mongoWrite, listed: true},
	{Name: "bulkWriteMany", kind: mongoWrite},
	{Name: "clientBulkWrite", kind: mongoWrite, listed: true},
	{Name: "clientBulkWriteMany", kind: mongoWrite},
	{Name: "updateMany", kind: mongoWrite},
	{Name: "deleteMany", kind: mongoWrite},
	{Name: "createCollection", kind: mongoWrite},
	{Name: "createIndexes", kind: mongoWrite},
	{Name: "dropIndexes", kind: mongoWrite},
	{Name: "drop", kind: mongoWrite},
	{Name: "dropDatabase", kind: mongoWrite},
	{Name: "commitTransaction", kind: mongoEnd, listed: true},
	{Name: "abortTransaction", kind: mongoEnd, listed: true},
}

// MongoOperations returns the names of the operations of the MongoDB client.
func MongoOperations() []string {
	names := make([]string, len(mongoOperations))
	for i := range mongoOperations {
		names[i] = mongoOperations[i].Name
	}
	return names
}

// MongoOperationNamed returns the operation with a name, in any case.
func MongoOperationNamed(name string) (MongoOperation, error) {
	for _, o := range mongoOperations {
		if strings.EqualFold(o.Name, name) {
			return o, nil
		}
	}
	return MongoOperation{}, unknownName("operation", name, MongoOperations())
}

// Pinned reports whether the operation goes to the server, or behind a load balancer to the connection, of an earlier one: of its cursor or
// of its transaction.
func (o MongoOperation) Pinned() bool { return o.pinned || o.kind == mongoEnd }
