//go:build spec_holdfast

package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
)

// notThereYet is the error of a missing method: its name. When the client has gained a method of this file, a test fails until
// it is deleted here.
type notThereYet string

func (name notThereYet) Error() string { return string(name) + " is not there yet" }

// missingFromClient has the methods of the official Client that ours lacks.
type missingFromClient struct{}

func (missingFromClient) BulkWrite(...any) (*mongoClientBulkResult, error) {
	return nil, notThereYet("Client.BulkWrite")
}

func (missingFromClient) ListDatabaseNames(...any) ([]string, error) {
	return nil, notThereYet("Client.ListDatabaseNames")
}

func (missingFromClient) ListDatabases(...any) (official.ListDatabasesResult, error) {
	return official.ListDatabasesResult{}, notThereYet("Client.ListDatabases")
}

func (missingFromClient) StartSession(...any) (*mongoSession, error) {
	return nil, notThereYet("Client.StartSession")
}

func (missingFromClient) Watch(...any) (*mongoChangeStream, error) {
	return nil, notThereYet("Client.Watch")
}

// missingFromDatabase has the methods of the official Database that ours lacks.
type missingFromDatabase struct{}

func (missingFromDatabase) Aggregate(...any) (*mongoCursor, error) {
	return nil, notThereYet("Database.Aggregate")
}

func (missingFromDatabase) CreateCollection(...any) error {
	return notThereYet("Database.CreateCollection")
}

func (missingFromDatabase) CreateView(...any) error { return notThereYet("Database.CreateView") }

func (missingFromDatabase) GridFSBucket(...any) *mongoBucket { return new(mongoBucket) }

func (missingFromDatabase) ListCollectionNames(...any) ([]string, error) {
	return nil, notThereYet("Database.ListCollectionNames")
}

func (missingFromDatabase) ListCollectionSpecifications(...any) ([]official.CollectionSpecification, error) {
	return nil, notThereYet("Database.ListCollectionSpecifications")
}

func (missingFromDatabase) ListCollections(...any) (*mongoCursor, error) {
	return nil, notThereYet("Database.ListCollections")
}

func (missingFromDatabase) RunCommandCursor(...any) (*mongoCursor, error) {
	return nil, notThereYet("Database.RunCommandCursor")
}

func (missingFromDatabase) Watch(...any) (*mongoChangeStream, error) {
	return nil, notThereYet("Database.Watch")
}

// missingFromCollection has the methods of the official Collection that ours lacks.
type missingFromCollection struct{}

func (missingFromCollection) Aggregate(...any) (*mongoCursor, error) {
	return nil, notThereYet("Collection.Aggregate")
}

func (missingFromCollection) BulkWrite(...any) (*mongoBulkResult, error) {
	return nil, notThereYet("Collection.BulkWrite")
}

func (missingFromCollection) CountDocuments(...any) (int64, error) {
	return 0, notThereYet("Collection.CountDocuments")
}

func (missingFromCollection) DeleteMany(...any) (*mongoDeleteResult, error) {
	return nil, notThereYet("Collection.DeleteMany")
}

func (missingFromCollection) Distinct(...any) missingResult {
	return missingResult{notThereYet("Collection.Distinct")}
}

func (missingFromCollection) EstimatedDocumentCount(...any) (int64, error) {
	return 0, notThereYet("Collection.EstimatedDocumentCount")
}

func (missingFromCollection) FindOneAndDelete(...any) missingResult {
	return missingResult{notThereYet("Collection.FindOneAndDelete")}
}

func (missingFromCollection) FindOneAndReplace(...any) missingResult {
	return missingResult{notThereYet("Collection.FindOneAndReplace")}
}

func (missingFromCollection) Indexes() missingIndexes { return missingIndexes{} }

func (missingFromCollection) SearchIndexes() missingSearchIndexes { return missingSearchIndexes{} }

func (missingFromCollection) UpdateMany(...any) (*mongoUpdateResult, error) {
	return nil, notThereYet("Collection.UpdateMany")
}

func (missingFromCollection) Watch(...any) (*mongoChangeStream, error) {
	return nil, notThereYet("Collection.Watch")
}

// missingResult is the result of a missing method that returns its error inside a result.
type missingResult struct{ err error }

func (r missingResult) Err() error             { return r.err }
func (r missingResult) Raw() (bson.Raw, error) { return nil, r.err }

type missingIndexes struct{}

func (missingIndexes) CreateOne(...any) (string, error) {
	return "", notThereYet("IndexView.CreateOne")
}
func (missingIndexes) DropAll(...any) error { return notThereYet("IndexView.DropAll") }
func (missingIndexes) DropOne(...any) error { return notThereYet("IndexView.DropOne") }
func (missingIndexes) List(...any) (*mongoCursor, error) {
	return nil, notThereYet("IndexView.List")
}

func (missingIndexes) ListSpecifications(...any) ([]official.IndexSpecification, error) {
	return nil, notThereYet("IndexView.ListSpecifications")
}

type missingSearchIndexes struct{}

func (missingSearchIndexes) CreateMany(...any) ([]string, error) {
	return nil, notThereYet("SearchIndexView.CreateMany")
}

func (missingSearchIndexes) CreateOne(...any) (string, error) {
	return "", notThereYet("SearchIndexView.CreateOne")
}
func (missingSearchIndexes) DropOne(...any) error { return notThereYet("SearchIndexView.DropOne") }
func (missingSearchIndexes) List(...any) (*mongoCursor, error) {
	return nil, notThereYet("SearchIndexView.List")
}

func (missingSearchIndexes) UpdateOne(...any) error { return notThereYet("SearchIndexView.UpdateOne") }

// mongoBucket stands for the official GridFSBucket.
type mongoBucket struct{}

func (*mongoBucket) Delete(...any) error { return notThereYet("GridFSBucket.Delete") }
func (*mongoBucket) DownloadToStream(...any) (int64, error) {
	return 0, notThereYet("GridFSBucket.DownloadToStream")
}

func (*mongoBucket) DownloadToStreamByName(...any) (int64, error) {
	return 0, notThereYet("GridFSBucket.DownloadToStreamByName")
}
func (*mongoBucket) Drop(...any) error                 { return notThereYet("GridFSBucket.Drop") }
func (*mongoBucket) Find(...any) (*mongoCursor, error) { return nil, notThereYet("GridFSBucket.Find") }
func (*mongoBucket) Rename(...any) error               { return notThereYet("GridFSBucket.Rename") }
func (*mongoBucket) UploadFromStream(...any) (bson.ObjectID, error) {
	return bson.NilObjectID, notThereYet("GridFSBucket.UploadFromStream")
}

func (*mongoBucket) UploadFromStreamWithID(...any) error {
	return notThereYet("GridFSBucket.UploadFromStreamWithID")
}

// mongoChangeStream stands for the official ChangeStream. Nothing makes one.
type mongoChangeStream struct{}

func (*mongoChangeStream) Close(context.Context) error  { return notThereYet("ChangeStream.Close") }
func (*mongoChangeStream) Decode(any) error             { return notThereYet("ChangeStream.Decode") }
func (*mongoChangeStream) Err() error                   { return notThereYet("ChangeStream.Err") }
func (*mongoChangeStream) Next(context.Context) bool    { return false }
func (*mongoChangeStream) TryNext(context.Context) bool { return false }

// mongoSession stands for the official Session. Nothing makes one.
type mongoSession struct{}

func (*mongoSession) AbortTransaction(...any) error { return notThereYet("Session.AbortTransaction") }

func (*mongoSession) CommitTransaction(...any) error { return notThereYet("Session.CommitTransaction") }
func (*mongoSession) EndSession(context.Context)     {}
func (*mongoSession) ID() bson.Raw                   { return nil }
func (*mongoSession) SnapshotTime() bson.Timestamp   { return bson.Timestamp{} }
func (*mongoSession) StartTransaction(...any) error  { return notThereYet("Session.StartTransaction") }

func (*mongoSession) WithTransaction(context.Context, func(context.Context) (any, error), ...any) (any, error) {
	return nil, notThereYet("Session.WithTransaction")
}
