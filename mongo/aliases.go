package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// The official driver's types that are plain data. They are the same types, so that code written for it, type switches
// on errors included, goes on to work.
type (
	// InsertOneResult is the result of InsertOne.
	InsertOneResult = official.InsertOneResult
	// InsertManyResult is the result of InsertMany.
	InsertManyResult = official.InsertManyResult
	// UpdateResult is the result of UpdateOne, UpdateByID and ReplaceOne.
	UpdateResult = official.UpdateResult
	// DeleteResult is the result of DeleteOne.
	DeleteResult = official.DeleteResult
	// Pipeline is an aggregation or update pipeline.
	Pipeline = official.Pipeline

	// CommandError is a command that failed: refused by a server, or broken on its way (label "NetworkError").
	CommandError = official.CommandError
	// WriteError is one statement that a server refused.
	WriteError = official.WriteError
	// WriteErrors are the statements that a server refused.
	WriteErrors = official.WriteErrors
	// WriteConcernError is a write concern that was not met. The write itself may stay.
	WriteConcernError = official.WriteConcernError
	// WriteException is a write of one statement that failed.
	WriteException = official.WriteException
	// BulkWriteError is one of InsertMany's documents that was refused.
	BulkWriteError = official.BulkWriteError
	// BulkWriteException is an InsertMany that failed, wholly or in part.
	BulkWriteException = official.BulkWriteException
	// ServerError is any error that a server answered.
	ServerError = official.ServerError
	// LabeledError is any error with labels.
	LabeledError = official.LabeledError
	// MarshalError is a value that could not become BSON.
	MarshalError = official.MarshalError
	// WriteModel is one write of a bulk.
	WriteModel = official.WriteModel
	// InsertOneModel is an insert of a bulk.
	InsertOneModel = official.InsertOneModel
)

// The official driver's sentinels, as they are.
var (
	ErrNoDocuments        = official.ErrNoDocuments
	ErrClientDisconnected = official.ErrClientDisconnected
	ErrNilDocument        = official.ErrNilDocument
	ErrNilValue           = official.ErrNilValue
	ErrEmptySlice         = official.ErrEmptySlice
	ErrNotSlice           = official.ErrNotSlice
	ErrNilCursor          = official.ErrNilCursor
)

// IsDuplicateKeyError reports whether err is a server's refusal of a key that is there already.
func IsDuplicateKeyError(err error) bool { return official.IsDuplicateKeyError(err) }

// IsTimeout reports whether err came from a time limit.
func IsTimeout(err error) bool { return official.IsTimeout(err) }

// IsNetworkError reports whether err came from the network.
func IsNetworkError(err error) bool { return official.IsNetworkError(err) }

// ErrorCodes returns the codes of a server's error.
func ErrorCodes(err error) []int { return official.ErrorCodes(err) }
