package mongo

import (
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// OptionsRow lists the fields of one of the official option types.
type OptionsRow struct {
	Type              reflect.Type
	Honoured, Refused []string
}

// HonouredOptions returns, for each option type, the fields that are honoured and those that are refused on purpose.
func HonouredOptions() []OptionsRow {
	return []OptionsRow{
		row[options.ClientOptions](
			clientFields,
			"Auth", "AutoEncryptionOptions", "Compressors", "DisableCertificateRevocationCheck", "DisableOCSPEndpointCheck",
			"DriverInfo", "LoggerOptions", "ServerMonitor", "SRVMaxHosts", "SRVServiceName",
			"TLSConfig", "ZlibLevel", "ZstdLevel", "Crypt", "Deployment", "Custom",
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
		row[options.FindOptions](findFields, "MaxAwaitTime", "OplogReplay", "CursorType", "Internal"),
		row[options.FindOneOptions](findOneFields, "OplogReplay", "Internal"),
		row[options.UpdateOneOptions](updateOneFields),
		row[options.UpdateManyOptions](updateManyFields),
		row[options.ReplaceOptions](replaceFields),
		row[options.DeleteOneOptions](deleteOneFields),
		row[options.DeleteManyOptions](deleteManyFields),
		row[options.BulkWriteOptions](bulkWriteFields),
		row[options.ClientBulkWriteOptions](clientBulkWriteFields),
		row[options.FindOneAndUpdateOptions](findOneAndUpdateFields, "Internal"),
		row[options.DropCollectionOptions](dropFields, "EncryptedFields"),
	}
}

func nestedRow[T any]() OptionsRow { return row[T](nestedFields[reflect.TypeFor[T]()]) }

func row[T any](f fields, refused ...string) OptionsRow {
	r := OptionsRow{Type: reflect.TypeFor[T](), Refused: refused}
	for name := range f {
		r.Honoured = append(r.Honoured, name)
	}
	slices.Sort(r.Honoured)
	return r
}
