package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// CheckEngines refuses options of storage engines that are none. Those that are some have no effect: nothing is stored on disk.
func CheckEngines(engines []byte) error {
	for _, f := range query.ObjectOf(engines) {
		switch {
		case !f.Value.IsDocument():
			return mongoerr.Errorf(mongoerr.BadValue, "'storageEngine.%s' has to be an embedded document.", f.Name)
		case f.Name != "wiredTiger":
			return mongoerr.Errorf(mongoerr.InvalidOptions, "%s is not a registered storage engine for this server", f.Name)
		}
		for _, o := range query.ObjectOf(f.Value.Data) {
			switch {
			case o.Name != "configString":
				return mongoerr.Errorf(mongoerr.InvalidOptions, "'%s' is not a supported option.", o.Name)
			case !o.Value.IsString():
				return mongoerr.Errorf(mongoerr.TypeMismatch, "'configString' must be a string.")
			}
		}
	}
	return nil
}

// ParseIndexDefaults reads the option indexOptionDefaults of create. It returns nil for defaults that say nothing.
func ParseIndexDefaults(defaults []byte) ([]byte, error) {
	var shown []byte
	for _, f := range query.ObjectOf(defaults) {
		switch {
		case f.Name != "storageEngine":
			return nil, fields.Unknown("create.indexOptionDefaults", f.Name)
		case f.Value.Type == bson.TypeNull:
			continue
		case !f.Value.IsDocument():
			return nil, fields.WrongType("create.indexOptionDefaults", "storageEngine", f.Value.Type, "object")
		}
		if err := CheckEngines(f.Value.Data); err != nil {
			return nil, err
		}
		at, doc := wire.BeginDocument(nil)
		shown = wire.EndDocument(wire.AppendDocument(doc, "storageEngine", f.Value.Data), at)
	}
	return shown, nil
}
