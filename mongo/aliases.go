package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// The official driver's types of results and errors. They are aliases, so that existing code works, including type
// switches on errors.
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

	// CommandError is the error of a command: an error reply of a server, or a network error (label "NetworkError").
	CommandError = official.CommandError
	// WriteError is the error of one statement of a write.
	WriteError = official.WriteError
	// WriteErrors are the errors of the statements of a write.
	WriteErrors = official.WriteErrors
	// WriteConcernError is the error of a write whose write concern was not satisfied. The write itself may have been
	// applied.
	WriteConcernError = official.WriteConcernError
	// WriteException is the error of a write with one statement.
	WriteException = official.WriteException
	// BulkWriteError is the error of one document of an InsertMany.
	BulkWriteError = official.BulkWriteError
	// BulkWriteException is the error of an InsertMany. Some of its documents may have been inserted.
	BulkWriteException = official.BulkWriteException
	// ServerError is implemented by all errors that a server returned.
	ServerError = official.ServerError
	// LabeledError is implemented by all errors with error labels.
	LabeledError = official.LabeledError
	// MarshalError is the error of a value that cannot be encoded as BSON.
	MarshalError = official.MarshalError
	// ErrMapForOrderedArgument is the error of a map with several keys for an argument whose keys have an order: a sort,
	// a hint, or a command.
	ErrMapForOrderedArgument = official.ErrMapForOrderedArgument
	// WriteModel is one write of a bulk write. It is the type of BulkWriteError.Request.
	WriteModel = official.WriteModel
	// InsertOneModel is the WriteModel of an insert.
	InsertOneModel = official.InsertOneModel
)

// The official driver's error values.
var (
	ErrNoDocuments        = official.ErrNoDocuments
	ErrClientDisconnected = official.ErrClientDisconnected
	ErrNilDocument        = official.ErrNilDocument
	ErrNilValue           = official.ErrNilValue
	ErrEmptySlice         = official.ErrEmptySlice
	ErrNotSlice           = official.ErrNotSlice
	ErrNilCursor          = official.ErrNilCursor
	ErrWrongClient        = official.ErrWrongClient
)

// IsDuplicateKeyError reports whether err is a server's error about a duplicate key.
func IsDuplicateKeyError(err error) bool { return official.IsDuplicateKeyError(err) }

// IsTimeout reports whether err is a timeout.
func IsTimeout(err error) bool { return official.IsTimeout(err) }

// IsNetworkError reports whether err is a network error.
func IsNetworkError(err error) bool { return official.IsNetworkError(err) }

// ErrorCodes returns the codes of a server's error, nil for other errors.
func ErrorCodes(err error) []int { return official.ErrorCodes(err) }
