package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// The official driver's types of results and errors. They are aliases, so that existing code works, including type
// switches on errors. WriteException, BulkWriteException and ClientBulkWriteException are types of this package, because they keep the
// history of their attempts.
type (
	// InsertOneResult is the result of InsertOne.
	InsertOneResult = official.InsertOneResult
	// InsertManyResult is the result of InsertMany.
	InsertManyResult = official.InsertManyResult
	// BulkWriteResult is the result of Collection.BulkWrite.
	BulkWriteResult = official.BulkWriteResult
	// UpdateResult is the result of UpdateOne, UpdateMany, UpdateByID and ReplaceOne.
	UpdateResult = official.UpdateResult
	// DeleteResult is the result of DeleteOne and DeleteMany.
	DeleteResult = official.DeleteResult
	// ClientBulkWriteResult is the result of Client.BulkWrite.
	ClientBulkWriteResult = official.ClientBulkWriteResult
	// ClientBulkWriteInsertResult is the result of one insert of Client.BulkWrite.
	ClientBulkWriteInsertResult = official.ClientBulkWriteInsertResult
	// ClientBulkWriteUpdateResult is the result of one update or replacement of Client.BulkWrite.
	ClientBulkWriteUpdateResult = official.ClientBulkWriteUpdateResult
	// ClientBulkWriteDeleteResult is the result of one delete of Client.BulkWrite.
	ClientBulkWriteDeleteResult = official.ClientBulkWriteDeleteResult
	// ListDatabasesResult is the result of Client.ListDatabases.
	ListDatabasesResult = official.ListDatabasesResult
	// DatabaseSpecification describes a database.
	DatabaseSpecification = official.DatabaseSpecification
	// CollectionSpecification describes a collection.
	CollectionSpecification = official.CollectionSpecification
	// IndexSpecification describes an index.
	IndexSpecification = official.IndexSpecification
	// IndexModel is an index to create.
	IndexModel = official.IndexModel
	// SearchIndexModel is a search index to create.
	SearchIndexModel = official.SearchIndexModel
	// Pipeline is an aggregation or update pipeline.
	Pipeline = official.Pipeline
	// Dialer makes connections. It is the type of options.ClientOptions.Dialer.
	Dialer = official.Dialer
	// StreamType is the scope of a change stream: a collection, a database or a whole deployment.
	StreamType = official.StreamType
	// RewrapManyDataKeyResult is the result of ClientEncryption.RewrapManyDataKey.
	RewrapManyDataKeyResult = official.RewrapManyDataKeyResult

	// CommandError is the error of a command: an error reply of a server, or a network error (label "NetworkError").
	CommandError = official.CommandError
	// WriteError is the error of one statement of a write.
	WriteError = official.WriteError
	// WriteErrors are the errors of the statements of a write.
	WriteErrors = official.WriteErrors
	// WriteConcernError is the error of a write whose write concern was not satisfied. The write itself may have been
	// applied.
	WriteConcernError = official.WriteConcernError
	// BulkWriteError is the error of one document of InsertMany or of one model of Collection.BulkWrite.
	BulkWriteError = official.BulkWriteError
	// ServerError is implemented by all errors that a server returned.
	ServerError = official.ServerError
	// LabeledError is implemented by all errors with error labels.
	LabeledError = official.LabeledError
	// MarshalError is the error of a value that cannot be encoded as BSON.
	MarshalError = official.MarshalError
	// ErrMapForOrderedArgument is the error of a map with several keys for an argument whose keys have an order: a sort,
	// a hint, or a command.
	ErrMapForOrderedArgument = official.ErrMapForOrderedArgument
	// InvalidArgumentError is the type of ErrNilDocument, ErrEmptySlice and other errors of arguments.
	InvalidArgumentError = official.InvalidArgumentError
	// EncryptionKeyVaultError is an error of the official driver's client-side encryption. Holdfast never returns it.
	EncryptionKeyVaultError = official.EncryptionKeyVaultError
	// MongocryptError is an error of the official driver's client-side encryption. Holdfast never returns it.
	MongocryptError = official.MongocryptError
	// MongocryptdError is an error of the official driver's client-side encryption. Holdfast never returns it.
	MongocryptdError = official.MongocryptdError
	// WriteModel is one write of Collection.BulkWrite. It is the type of BulkWriteError.Request.
	WriteModel = official.WriteModel
)

// The scopes of a change stream.
const (
	CollectionStream = official.CollectionStream
	DatabaseStream   = official.DatabaseStream
	ClientStream     = official.ClientStream
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
	ErrMissingResumeToken = official.ErrMissingResumeToken
	ErrInvalidIndexValue  = official.ErrInvalidIndexValue
	ErrNonStringIndexName = official.ErrNonStringIndexName //nolint:staticcheck // the official package still exports it
	ErrMultipleIndexDrop  = official.ErrMultipleIndexDrop
	ErrWrongClient        = official.ErrWrongClient
)
