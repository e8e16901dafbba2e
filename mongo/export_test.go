package mongo

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// OptionsRow lists the fields of one of the official option types.
type OptionsRow struct {
	Type               reflect.Type
	Supported, Refused []string
}

// SupportedOptions returns, for each option type, the fields that are supported and those that are refused on purpose.
func SupportedOptions() []OptionsRow {
	return []OptionsRow{
		row[options.ClientOptions](
			clientFields,
			"AutoEncryptionOptions", "Crypt", "Deployment",
		),
		nestedRow[options.ServerAPIOptions](),
		nestedRow[options.BSONOptions](),
		nestedRow[options.Collation](),
		nestedRow[writeconcern.WriteConcern](),
		nestedRow[readconcern.ReadConcern](),
		row[options.DatabaseOptions](databaseFields),
		row[options.CollectionOptions](collectionFields),
		row[options.RunCmdOptions](runCmdFields),
		row[options.InsertOneOptions](insertOneFields),
		row[options.InsertManyOptions](insertManyFields),
		row[options.FindOptions](findFields),
		row[options.FindOneOptions](findOneFields),
		row[options.UpdateOneOptions](updateOneFields),
		row[options.UpdateManyOptions](updateManyFields),
		row[options.ReplaceOptions](replaceFields),
		row[options.DeleteOneOptions](deleteOneFields),
		row[options.DeleteManyOptions](deleteManyFields),
		row[options.BulkWriteOptions](bulkWriteFields),
		row[options.ClientBulkWriteOptions](clientBulkWriteFields),
		row[options.FindOneAndUpdateOptions](findOneAndUpdateFields),
		row[options.FindOneAndReplaceOptions](findOneAndReplaceFields),
		row[options.FindOneAndDeleteOptions](findOneAndDeleteFields),
		row[options.SessionOptions](sessionFields),
		row[options.TransactionOptions](transactionFields),
		row[options.DropCollectionOptions](dropFields, "EncryptedFields"),
		row[options.AggregateOptions](aggregateFields),
		row[options.CountOptions](countFields),
		row[options.EstimatedDocumentCountOptions](estimateCountFields),
		row[options.DistinctOptions](distinctFields),
		row[options.ListDatabasesOptions](listDatabasesFields),
		row[options.ListCollectionsOptions](listCollectionsFields),
		row[options.CreateCollectionOptions](createCollectionFields, "EncryptedFields"),
		row[options.DefaultIndexOptions](defaultIndexFields),
		row[options.BucketOptions](bucketFields),
		row[options.GridFSUploadOptions](gridFSUploadFields),
		row[options.GridFSNameOptions](gridFSNameFields),
		row[options.GridFSFindOptions](gridFSFindFields),
		row[options.TimeSeriesOptions](timeSeriesFields),
		row[options.CreateViewOptions](createViewFields),
		row[options.IndexOptions](indexFields),
		row[options.CreateIndexesOptions](createIndexesFields),
		row[options.DropIndexesOptions](dropIndexesFields),
		row[options.ListIndexesOptions](listIndexesFields),
		row[options.SearchIndexesOptions](searchIndexFields),
		row[options.CreateSearchIndexesOptions](createSearchIndexFields),
		row[options.DropSearchIndexOptions](dropSearchIndexFields),
		row[options.UpdateSearchIndexOptions](updateSearchIndexFields),
		row[options.ListSearchIndexesOptions](listSearchIndexesFields),
		row[options.ChangeStreamOptions](changeStreamFields),
	}
}

func nestedRow[T any]() OptionsRow { return row[T](nestedFields[reflect.TypeFor[T]()]) }

func row[T any](f fields, refused ...string) OptionsRow {
	r := OptionsRow{Type: reflect.TypeFor[T](), Refused: refused}
	for name := range f {
		r.Supported = append(r.Supported, name)
	}
	slices.Sort(r.Supported)
	return r
}

// Resolve returns the options with which [Open] starts a client.
func Resolve(uri string, cfg Config, opts ...*options.ClientOptions) (*options.ClientOptions, error) {
	o, srv, err := cfg.resolve(uri, options.MergeClientOptions(opts...))
	if err != nil {
		return nil, err
	}
	return o, validate(o, srv)
}

// Hosts returns the addresses of the servers in the client's topology, sorted.
func (c *Client) Hosts() []string {
	var hosts []string
	for _, s := range c.runner.Cluster().Snapshot().Description.Servers {
		hosts = append(hosts, s.Address)
	}
	slices.Sort(hosts)
	return hosts
}

// SetJitter replaces the random numbers of WithTransaction's backoff.
func (s *Session) SetJitter(f func() float64) { s.jitter = f }

// SupportedURIOptions returns the options of the connection string that are supported, in lower case.
func SupportedURIOptions() []string { return slices.Sorted(maps.Keys(uriOptions)) }

// IgnoredURIOptions returns the name, the permitted values and the reason of each option of the connection string that is ignored.
func IgnoredURIOptions() [][3]string {
	var rows [][3]string
	for _, name := range slices.Sorted(maps.Keys(ignoredOptions)) {
		o := ignoredOptions[name]
		rows = append(rows, [3]string{name, strings.Join(o.values, ", "), o.why})
	}
	return rows
}
