//go:build !spec_holdfast

package unified

import (
	"errors"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/telemetry"
)

type (
	mongoBucket            = mongo.GridFSBucket
	mongoChangeStream      = mongo.ChangeStream
	mongoClient            = mongo.Client
	mongoClientBulkError   = mongo.ClientBulkWriteException
	mongoClientBulkResult  = mongo.ClientBulkWriteResult
	mongoClientBulkWrite   = mongo.ClientBulkWrite
	mongoClientWriteModel  = mongo.ClientWriteModel
	mongoCollection        = mongo.Collection
	mongoCommandError      = mongo.CommandError
	mongoCursor            = mongo.Cursor
	mongoDatabase          = mongo.Database
	mongoBulkError         = mongo.BulkWriteException
	mongoBulkResult        = mongo.BulkWriteResult
	mongoDeleteResult      = mongo.DeleteResult
	mongoIndexModel        = mongo.IndexModel
	mongoInsertManyResult  = mongo.InsertManyResult
	mongoInsertOneResult   = mongo.InsertOneResult
	mongoLabeledError      = mongo.LabeledError
	mongoSearchIndexModel  = mongo.SearchIndexModel
	mongoSession           = mongo.Session
	mongoUpdateResult      = mongo.UpdateResult
	mongoWriteConcernError = mongo.WriteConcernError
	mongoWriteError        = mongo.WriteError
	mongoWriteException    = mongo.WriteException
	mongoWriteModel        = mongo.WriteModel
)

var (
	mongoConnect             = mongo.Connect
	mongoErrNoDocuments      = mongo.ErrNoDocuments
	mongoIsTimeout           = mongo.IsTimeout
	mongoNewSessionContext   = mongo.NewSessionContext
	mongoNewInsertOne        = mongo.NewInsertOneModel
	mongoNewUpdateOne        = mongo.NewUpdateOneModel
	mongoNewUpdateMany       = mongo.NewUpdateManyModel
	mongoNewReplaceOne       = mongo.NewReplaceOneModel
	mongoNewDeleteOne        = mongo.NewDeleteOneModel
	mongoNewDeleteMany       = mongo.NewDeleteManyModel
	mongoNewClientInsertOne  = mongo.NewClientInsertOneModel
	mongoNewClientUpdateOne  = mongo.NewClientUpdateOneModel
	mongoNewClientUpdateMany = mongo.NewClientUpdateManyModel
	mongoNewClientReplaceOne = mongo.NewClientReplaceOneModel
	mongoNewClientDeleteOne  = mongo.NewClientDeleteOneModel
	mongoNewClientDeleteMany = mongo.NewClientDeleteManyModel
)

// mongoMissing returns the name of the missing method or option that err is about. The official client lacks none.
func mongoMissing(error) string { return "" }

// mongoOpen returns an error: nothing can trace the official client from inside.
var mongoOpen = func(string, *telemetry.Tracer, *options.ClientOptions) (*mongoClient, error) {
	return nil, errors.New("the client cannot be traced")
}

func mongoAppendDriverInfo(c *mongoClient, info options.DriverInfo) error {
	c.AppendDriverInfo(info)
	return nil
}

// mongoSessionState returns the private state of a client's session. The official one has no accessor, so its fields
// are read by name.
func mongoSessionState(s *mongoSession) sessionState {
	inner := reflect.ValueOf(s).Elem().FieldByName("clientSession").Elem()
	states := []string{"none", "starting", "in_progress", "committed", "aborted"}
	state := sessionState{transaction: states[inner.FieldByName("TransactionState").Uint()]}
	if server := inner.FieldByName("Server"); !server.IsNil() {
		state.dirty = server.Elem().FieldByName("Dirty").Bool()
	}
	if pinned := inner.FieldByName("PinnedServerAddr"); !pinned.IsNil() {
		state.pinned = pinned.Elem().String()
	}
	return state
}
