package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// The official driver's types of lists and indexes.
type (
	// ListDatabasesResult is the result of ListDatabases.
	ListDatabasesResult = official.ListDatabasesResult
	// DatabaseSpecification describes a database.
	DatabaseSpecification = official.DatabaseSpecification
	// CollectionSpecification describes a collection or a view.
	CollectionSpecification = official.CollectionSpecification
	// IndexSpecification describes an index.
	IndexSpecification = official.IndexSpecification
	// IndexModel is an index that is to be created.
	IndexModel = official.IndexModel
	// SearchIndexModel is a search index that is to be created.
	SearchIndexModel = official.SearchIndexModel
)

// The official driver's error values about indexes and change streams.
var (
	ErrInvalidIndexValue = official.ErrInvalidIndexValue
	ErrMultipleIndexDrop = official.ErrMultipleIndexDrop
	// ErrMissingResumeToken is the error of an event without an _id: a stage of the pipeline has removed it.
	ErrMissingResumeToken = official.ErrMissingResumeToken
)
