//go:build spec_holdfast

package unified

import (
	"cmp"
	"reflect"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
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

// refusedOption is the whole text by which the client refuses an option that it does not support.
var refusedOption = regexp.MustCompile(`^mongo: (?:option (\w+\.\w+) is not supported by Holdfast` +
	`|the connection string's option "(\w+)"(?: with the value "[^"]*")? is not supported by Holdfast)$`)

// mongoMissing returns the name of the option that the client refuses with err, "" if err is about
// something else.
func mongoMissing(err error) string {
	if err == nil {
		return ""
	}
	groups := refusedOption.FindStringSubmatch(err.Error())
	if groups == nil {
		return ""
	}
	return cmp.Or(groups[1:]...)
}

// mongoOpen connects a client that is traced.
var mongoOpen = func(uri string, tracer *telemetry.Tracer, opts *options.ClientOptions) (*mongoClient, error) {
	return mongo.Open(uri, mongo.Config{Tracer: tracer}, opts)
}

func mongoAppendDriverInfo(c *mongoClient, info options.DriverInfo) error {
	c.AppendDriverInfo(info)
	return nil
}

// mongoSessionState returns the private state of a client's session, whose fields are read by name.
func mongoSessionState(s *mongoSession) sessionState {
	inner := reflect.ValueOf(s).Elem().FieldByName("session").Elem()
	transaction := inner.FieldByName("transaction")
	states := []string{"none", "starting", "in_progress", "committed", "aborted"}
	state := sessionState{
		transaction: states[transaction.FieldByName("state").Uint()],
		dirty:       inner.FieldByName("server").Elem().FieldByName("dirty").Bool(),
	}
	if server := transaction.FieldByName("pin").FieldByName("server"); !server.IsNil() {
		state.pinned = server.Elem().FieldByName("address").String()
	}
	return state
}
