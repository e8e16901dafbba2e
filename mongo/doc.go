// Package mongo is a MongoDB client with the API of go.mongodb.org/mongo-driver/v2/mongo: change that import to this one
// and keep the rest. The vocabulary (bson, options, readpref, writeconcern, event, errors and results) is the official
// module's; what acts is Holdfast's.
//
// Reads and writes that may be retried are retried by the rules of the MongoDB specifications, and every error can say
// how often, where, and why not again: errors.As to *retry.Error.
//
// A Client, a Database and a Collection are safe for concurrent use; a Cursor and a SingleResult are not. What is not
// there yet is refused by name, never ignored.
package mongo
