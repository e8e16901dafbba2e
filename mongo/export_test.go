package mongo

import (
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
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
			"Auth", "AutoEncryptionOptions", "DisableCertificateRevocationCheck", "DisableOCSPEndpointCheck",
			"DriverInfo", "LoggerOptions", "ServerMonitor", "ServerAPIOptions",
			"TLSConfig", "Crypt", "Deployment", "Custom",
		),
		row[options.DatabaseOptions](databaseFields),
		row[options.CollectionOptions](collectionFields),
		row[options.RunCmdOptions](runCmdFields),
		row[options.InsertOneOptions](insertOneFields, "Internal"),
		row[options.InsertManyOptions](insertManyFields, "Internal"),
		row[options.FindOptions](findFields, "MaxAwaitTime", "OplogReplay", "CursorType", "Internal"),
		row[options.FindOneOptions](findOneFields, "OplogReplay", "Internal"),
		row[options.UpdateOneOptions](updateOneFields, "Internal"),
		row[options.ReplaceOptions](replaceFields, "Internal"),
		row[options.DeleteOneOptions](deleteOneFields, "Internal"),
		row[options.FindOneAndUpdateOptions](findOneAndUpdateFields, "Internal"),
		row[options.DropCollectionOptions](dropFields, "EncryptedFields"),
	}
}

func row[T any](f fields, refused ...string) OptionsRow {
	r := OptionsRow{Type: reflect.TypeFor[T](), Refused: refused}
	for name := range f {
		r.Honoured = append(r.Honoured, name)
	}
	slices.Sort(r.Honoured)
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
