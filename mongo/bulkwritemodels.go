package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// The models of Collection.BulkWrite. They are the official types.
type (
	// InsertOneModel is the WriteModel of an insert.
	InsertOneModel = official.InsertOneModel
	// UpdateOneModel is the WriteModel of an update of one document.
	UpdateOneModel = official.UpdateOneModel
	// UpdateManyModel is the WriteModel of an update of all documents that match.
	UpdateManyModel = official.UpdateManyModel
	// ReplaceOneModel is the WriteModel of a replacement.
	ReplaceOneModel = official.ReplaceOneModel
	// DeleteOneModel is the WriteModel of a delete of one document.
	DeleteOneModel = official.DeleteOneModel
	// DeleteManyModel is the WriteModel of a delete of all documents that match.
	DeleteManyModel = official.DeleteManyModel
)

// NewInsertOneModel returns a model without a document.
func NewInsertOneModel() *InsertOneModel { return official.NewInsertOneModel() }

// NewUpdateOneModel returns a model without arguments.
func NewUpdateOneModel() *UpdateOneModel { return official.NewUpdateOneModel() }

// NewUpdateManyModel returns a model without arguments.
func NewUpdateManyModel() *UpdateManyModel { return official.NewUpdateManyModel() }

// NewReplaceOneModel returns a model without arguments.
func NewReplaceOneModel() *ReplaceOneModel { return official.NewReplaceOneModel() }

// NewDeleteOneModel returns a model without a filter.
func NewDeleteOneModel() *DeleteOneModel { return official.NewDeleteOneModel() }

// NewDeleteManyModel returns a model without a filter.
func NewDeleteManyModel() *DeleteManyModel { return official.NewDeleteManyModel() }
