//go:build spec_holdfast

package unified

import (
	"cmp"
	"context"
	"errors"
	"regexp"

	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

type (
	mongoBulkError         = mongo.BulkWriteException
	mongoCommandError      = mongo.CommandError
	mongoCursor            = mongo.Cursor
	mongoDeleteResult      = mongo.DeleteResult
	mongoInsertManyResult  = mongo.InsertManyResult
	mongoInsertOneResult   = mongo.InsertOneResult
	mongoLabeledError      = mongo.LabeledError
	mongoUpdateResult      = mongo.UpdateResult
	mongoWriteConcernError = mongo.WriteConcernError
	mongoWriteError        = mongo.WriteError
	mongoWriteException    = mongo.WriteException
	mongoWriteModel        = mongo.WriteModel
)

// Holdfast has no names for these types yet. They are plain data, for which it uses the official types.
type (
	mongoBulkResult       = official.BulkWriteResult
	mongoClientBulkError  = official.ClientBulkWriteException
	mongoClientBulkResult = official.ClientBulkWriteResult
	mongoClientBulkWrite  = official.ClientBulkWrite
	mongoClientWriteModel = official.ClientWriteModel
	mongoIndexModel       = official.IndexModel
	mongoSearchIndexModel = official.SearchIndexModel
)

var (
	mongoErrNoDocuments = mongo.ErrNoDocuments
	mongoIsTimeout      = mongo.IsTimeout
)

// Holdfast has no names for these functions yet. The models that they make are plain data.
var (
	mongoNewInsertOne        = official.NewInsertOneModel
	mongoNewUpdateOne        = official.NewUpdateOneModel
	mongoNewUpdateMany       = official.NewUpdateManyModel
	mongoNewReplaceOne       = official.NewReplaceOneModel
	mongoNewDeleteOne        = official.NewDeleteOneModel
	mongoNewDeleteMany       = official.NewDeleteManyModel
	mongoNewClientInsertOne  = official.NewClientInsertOneModel
	mongoNewClientUpdateOne  = official.NewClientUpdateOneModel
	mongoNewClientUpdateMany = official.NewClientUpdateManyModel
	mongoNewClientReplaceOne = official.NewClientReplaceOneModel
	mongoNewClientDeleteOne  = official.NewClientDeleteOneModel
	mongoNewClientDeleteMany = official.NewClientDeleteManyModel
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
)

func mongoConnect(opts ...*options.ClientOptions) (*mongoClient, error) {
	c, err := mongo.Connect(opts...)
	if err != nil {
		return nil, err
	}
	return &mongoClient{Client: c}, nil
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

// refusedOption is the whole text by which the client refuses an option that it does not honour.
var refusedOption = regexp.MustCompile(`^mongo: (?:option (\w+\.\w+) is not supported by Holdfast` +
	`|the connection string's option "(\w+)"(?: with the value "[^"]*")? is not supported by Holdfast` +
	`|the scheme (mongodb\+srv) is not supported by Holdfast yet: list the hosts in a mongodb:// URI` +
	`|(serverMonitoringMode "stream") is not supported by Holdfast, which polls: use "auto" or "poll")$`)

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

func mongoNewSessionContext(ctx context.Context, _ *mongoSession) context.Context { return ctx }

func mongoSessionState(*mongoSession) sessionState { return sessionState{} }
