package dropin

// These are being written. When they are there, delete this file.
func init() {
	const reads = "reads, lists, indexes and change streams are being written"
	allow(reads, "ChangeStream", "ChangeStream.Close", "ChangeStream.Current", "ChangeStream.Decode", "ChangeStream.Err", "ChangeStream.ID", "ChangeStream.Next", "ChangeStream.RemainingBatchLength", "ChangeStream.ResumeToken", "ChangeStream.SetBatchSize", "ChangeStream.TryNext")
	allow(reads, "Client.ListDatabaseNames", "Client.ListDatabases", "Client.Watch")
	allow(reads, "Collection.Aggregate", "Collection.Clone", "Collection.CountDocuments", "Collection.Distinct", "Collection.EstimatedDocumentCount", "Collection.FindOneAndDelete", "Collection.FindOneAndReplace", "Collection.Indexes", "Collection.SearchIndexes", "Collection.Watch")
	allow(reads, "Database.Aggregate", "Database.CreateCollection", "Database.CreateView", "Database.Drop", "Database.ListCollectionNames", "Database.ListCollectionSpecifications", "Database.ListCollections", "Database.RunCommandCursor", "Database.Watch")
	allow(reads, "DistinctResult", "DistinctResult.Decode", "DistinctResult.Err", "DistinctResult.Raw")
	allow(reads, "IndexView", "IndexView.CreateMany", "IndexView.CreateOne", "IndexView.DropAll", "IndexView.DropOne", "IndexView.DropWithKey", "IndexView.List", "IndexView.ListSpecifications")
	allow(reads, "SearchIndexView", "SearchIndexView.CreateMany", "SearchIndexView.CreateOne", "SearchIndexView.DropOne", "SearchIndexView.List", "SearchIndexView.UpdateOne")
	allow(reads, "Cursor.SetMaxAwaitTime", "NewCursorFromDocuments", "NewSingleResultFromDocument")
}
