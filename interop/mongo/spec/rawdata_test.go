package spec

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"
)

// setInternal sets rawData, which the official client does not offer to applications.
func setInternal(builder any, name string, v bson.RawValue) (bool, error) {
	if name != "rawData" {
		return false, nil
	}
	on := v.Boolean()
	switch b := builder.(type) {
	case *options.AggregateOptionsBuilder:
		return true, xoptions.SetInternalAggregateOptions(b, name, on)
	case *options.BulkWriteOptionsBuilder:
		return true, xoptions.SetInternalBulkWriteOptions(b, name, on)
	case *options.ClientBulkWriteOptionsBuilder:
		return true, xoptions.SetInternalClientBulkWriteOptions(b, name, on)
	case *options.CountOptionsBuilder:
		return true, xoptions.SetInternalCountOptions(b, name, on)
	case *options.CreateIndexesOptionsBuilder:
		return true, xoptions.SetInternalCreateIndexesOptions(b, name, on)
	case *options.DeleteOneOptionsBuilder:
		return true, xoptions.SetInternalDeleteOneOptions(b, name, on)
	case *options.DeleteManyOptionsBuilder:
		return true, xoptions.SetInternalDeleteManyOptions(b, name, on)
	case *options.DistinctOptionsBuilder:
		return true, xoptions.SetInternalDistinctOptions(b, name, on)
	case *options.DropIndexesOptionsBuilder:
		return true, xoptions.SetInternalDropIndexesOptions(b, name, on)
	case *options.EstimatedDocumentCountOptionsBuilder:
		return true, xoptions.SetInternalEstimatedDocumentCountOptions(b, name, on)
	}
	return setInternalOfFindAndWrite(builder, name, on)
}

func setInternalOfFindAndWrite(builder any, name string, on bool) (bool, error) {
	switch b := builder.(type) {
	case *options.FindOptionsBuilder:
		return true, xoptions.SetInternalFindOptions(b, name, on)
	case *options.FindOneOptionsBuilder:
		return true, xoptions.SetInternalFindOneOptions(b, name, on)
	case *options.FindOneAndDeleteOptionsBuilder:
		return true, xoptions.SetInternalFindOneAndDeleteOptions(b, name, on)
	case *options.FindOneAndReplaceOptionsBuilder:
		return true, xoptions.SetInternalFindOneAndReplaceOptions(b, name, on)
	case *options.FindOneAndUpdateOptionsBuilder:
		return true, xoptions.SetInternalFindOneAndUpdateOptions(b, name, on)
	case *options.InsertManyOptionsBuilder:
		return true, xoptions.SetInternalInsertManyOptions(b, name, on)
	case *options.InsertOneOptionsBuilder:
		return true, xoptions.SetInternalInsertOneOptions(b, name, on)
	case *options.ListCollectionsOptionsBuilder:
		return true, xoptions.SetInternalListCollectionsOptions(b, name, on)
	case *options.ListIndexesOptionsBuilder:
		return true, xoptions.SetInternalListIndexesOptions(b, name, on)
	case *options.ReplaceOptionsBuilder:
		return true, xoptions.SetInternalReplaceOptions(b, name, on)
	case *options.UpdateManyOptionsBuilder:
		return true, xoptions.SetInternalUpdateManyOptions(b, name, on)
	case *options.UpdateOneOptionsBuilder:
		return true, xoptions.SetInternalUpdateOneOptions(b, name, on)
	}
	return false, nil
}
