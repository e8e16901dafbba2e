//go:build spec_holdfast

package unified

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

type (
	mongoBulkError         = mongo.BulkWriteException
	mongoBulkResult        = mongo.BulkWriteResult
	mongoClientBulkError   = mongo.ClientBulkWriteException
	mongoClientBulkResult  = mongo.ClientBulkWriteResult
	mongoClientBulkWrite   = mongo.ClientBulkWrite
	mongoClientWriteModel  = mongo.ClientWriteModel
	mongoChangeStream      = mongo.ChangeStream
	mongoCommandError      = mongo.CommandError
	mongoCursor            = mongo.Cursor
	mongoDeleteResult      = mongo.DeleteResult
	mongoIndexModel        = mongo.IndexModel
	mongoInsertManyResult  = mongo.InsertManyResult
	mongoInsertOneResult   = mongo.InsertOneResult
	mongoLabeledError      = mongo.LabeledError
	mongoSearchIndexModel  = mongo.SearchIndexModel
	mongoUpdateResult      = mongo.UpdateResult
	mongoWriteConcernError = mongo.WriteConcernError
	mongoWriteError        = mongo.WriteError
	mongoWriteException    = mongo.WriteException
	mongoWriteModel        = mongo.WriteModel
	mongoBucket            = mongo.GridFSBucket
)

var (
	mongoErrNoDocuments = mongo.ErrNoDocuments
	mongoIsTimeout      = mongo.IsTimeout

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

// Each handle has the methods of the client's handle and, one level deeper, the missing ones. Of two methods with the same name
// Go calls the one that is less deep, so a method that the client gains is used at once.
type (
	mongoClient struct {
		*mongo.Client
		clientGaps
	}
	clientGaps struct{ missingFromClient }

	mongoDatabase struct {
		*mongo.Database
		databaseGaps
		client *mongoClient
	}
	databaseGaps struct{ missingFromDatabase }

	mongoCollection struct {
		*mongo.Collection
		collectionGaps
		database *mongoDatabase
	}
	collectionGaps struct{ missingFromCollection }

	mongoSession struct {
		*mongo.Session
		sessionGaps
	}
	sessionGaps struct{ missingFromSession }
)

func mongoConnect(opts ...*options.ClientOptions) (*mongoClient, error) {
	c, err := mongo.Connect(opts...)
	if err != nil {
		return nil, err
	}
	return &mongoClient{Client: c}, nil
}

// StartSession returns the client's own session with the methods that it lacks.
func (c *mongoClient) StartSession(opts ...options.Lister[options.SessionOptions]) (*mongoSession, error) {
	s, err := c.Client.StartSession(opts...)
	if err != nil {
		return nil, err
	}
	return &mongoSession{Session: s}, nil
}

// Database returns the client's own handle with the methods that it lacks.
func (c *mongoClient) Database(name string, opts ...options.Lister[options.DatabaseOptions]) *mongoDatabase {
	return &mongoDatabase{Database: c.Client.Database(name, opts...), client: c}
}

// Client returns the handle that db was made with.
func (db *mongoDatabase) Client() *mongoClient { return db.client }

// Collection returns the client's own handle with the methods that it lacks.
func (db *mongoDatabase) Collection(name string, opts ...options.Lister[options.CollectionOptions]) *mongoCollection {
	return &mongoCollection{Collection: db.Database.Collection(name, opts...), database: db}
}

// Database returns the handle that c was made with.
func (c *mongoCollection) Database() *mongoDatabase { return c.database }

// refusedOption is the whole text by which the client refuses an option that it does not honour, or GridFS.
var refusedOption = regexp.MustCompile(`^mongo: (?:option (\w+\.\w+) is not supported by Holdfast` +
	`|(GridFSBucket\.\w+) is not supported by Holdfast` +
	`|the connection string's option "(\w+)"(?: with the value "[^"]*")? is not supported by Holdfast)$`)

// mongoMissing returns the name of the missing method or option that err is about, "" if it is about something else.
func mongoMissing(err error) string {
	if err == nil {
		return ""
	}
	var method notThereYet
	if errors.As(err, &method) {
		return string(method)
	}
	groups := refusedOption.FindStringSubmatch(err.Error())
	if groups == nil {
		return ""
	}
	return cmp.Or(groups[1:]...)
}

func mongoAppendDriverInfo(c *mongoClient, info options.DriverInfo) error {
	c.AppendDriverInfo(info)
	return nil
}

func mongoNewSessionContext(ctx context.Context, s *mongoSession) context.Context {
	return mongo.NewSessionContext(ctx, s.Session)
}

// mongoSessionState returns the private state of a client's session, whose fields are read by name.
func mongoSessionState(s *mongoSession) sessionState {
	inner := reflect.ValueOf(s.Session).Elem().FieldByName("session").Elem()
	return sessionState{transaction: "none", dirty: inner.FieldByName("server").Elem().FieldByName("dirty").Bool()}
}
