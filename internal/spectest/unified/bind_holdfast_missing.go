//go:build spec_holdfast

package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// notThereYet is the error of a missing method: its name. When the client has gained a method of this file, a test fails until
// it is deleted here.
type notThereYet string

func (name notThereYet) Error() string { return string(name) + " is not there yet" }

// missingFromClient has the methods of the official Client that ours lacks.
type missingFromClient struct{}

func (missingFromClient) AppendDriverInfo(...any) error {
	return notThereYet("Client.AppendDriverInfo")
}

func (missingFromClient) BulkWrite(...any) (*mongoClientBulkResult, error) {
	return nil, notThereYet("Client.BulkWrite")
}

func (missingFromClient) StartSession(...any) (*mongoSession, error) {
	return nil, notThereYet("Client.StartSession")
}

// missingFromDatabase has the methods of the official Database that ours lacks.
type missingFromDatabase struct{}

func (missingFromDatabase) GridFSBucket(...any) *mongoBucket { return new(mongoBucket) }

// missingFromCollection has the methods of the official Collection that ours lacks.
type missingFromCollection struct{}

func (missingFromCollection) BulkWrite(...any) (*mongoBulkResult, error) {
	return nil, notThereYet("Collection.BulkWrite")
}

func (missingFromCollection) DeleteMany(...any) (*mongoDeleteResult, error) {
	return nil, notThereYet("Collection.DeleteMany")
}

func (missingFromCollection) UpdateMany(...any) (*mongoUpdateResult, error) {
	return nil, notThereYet("Collection.UpdateMany")
}

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
