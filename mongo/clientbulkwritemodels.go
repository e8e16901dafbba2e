package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// The models of Client.BulkWrite. They are the official types.
type (
	// ClientBulkWrite is one write of Client.BulkWrite: a model and the collection that it is for.
	ClientBulkWrite = official.ClientBulkWrite
	// ClientWriteModel is the model of a ClientBulkWrite.
	ClientWriteModel = official.ClientWriteModel
	// ClientInsertOneModel is the ClientWriteModel of an insert.
	ClientInsertOneModel = official.ClientInsertOneModel
	// ClientUpdateOneModel is the ClientWriteModel of an update of one document.
	ClientUpdateOneModel = official.ClientUpdateOneModel
	// ClientUpdateManyModel is the ClientWriteModel of an update of all documents that match.
	ClientUpdateManyModel = official.ClientUpdateManyModel
	// ClientReplaceOneModel is the ClientWriteModel of a replacement.
	ClientReplaceOneModel = official.ClientReplaceOneModel
	// ClientDeleteOneModel is the ClientWriteModel of a delete of one document.
	ClientDeleteOneModel = official.ClientDeleteOneModel
	// ClientDeleteManyModel is the ClientWriteModel of a delete of all documents that match.
	ClientDeleteManyModel = official.ClientDeleteManyModel
)

// NewClientInsertOneModel returns a model without a document.
func NewClientInsertOneModel() *ClientInsertOneModel { return official.NewClientInsertOneModel() }

// NewClientUpdateOneModel returns a model without arguments.
func NewClientUpdateOneModel() *ClientUpdateOneModel { return official.NewClientUpdateOneModel() }

// NewClientUpdateManyModel returns a model without arguments.
func NewClientUpdateManyModel() *ClientUpdateManyModel { return official.NewClientUpdateManyModel() }

// NewClientReplaceOneModel returns a model without arguments.
func NewClientReplaceOneModel() *ClientReplaceOneModel { return official.NewClientReplaceOneModel() }

// NewClientDeleteOneModel returns a model without a filter.
func NewClientDeleteOneModel() *ClientDeleteOneModel { return official.NewClientDeleteOneModel() }

// NewClientDeleteManyModel returns a model without a filter.
func NewClientDeleteManyModel() *ClientDeleteManyModel { return official.NewClientDeleteManyModel() }
