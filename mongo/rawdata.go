package mongo

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// The field Internal of the official options structs is a struct with one map, to which the official driver's package
// xoptions adds values. The only one that is honoured is rawData, with which the server gives the stored form of a
// time series (CRUD specification, "rawData").
const (
	internalField = "Internal"
	rawDataKey    = "rawData"
)

const rawDataWireVersion = 27 // MongoDB 8.2

// internalValues returns the map of a field Internal.
func internalValues(internal reflect.Value) reflect.Value {
	if internal.Kind() == reflect.Struct && internal.NumField() == 1 && internal.Field(0).Kind() == reflect.Map {
		return internal.Field(0)
	}
	return reflect.Value{}
}

// refusedInternal returns the name of a value of a field Internal that is not honoured, "" if there is none.
func refusedInternal(internal reflect.Value) string {
	values := internalValues(internal)
	if !values.IsValid() {
		return internalField
	}
	for it := values.MapRange(); it.Next(); {
		if key := it.Key().String(); key != rawDataKey || it.Value().Elem().Kind() != reflect.Bool {
			return key
		}
	}
	return ""
}

// rawDataOf returns the value rawData in the field Internal of o, which opts were collected into. It is nil if there is
// none.
func rawDataOf[T any](opts []options.Lister[T], o T) *bool {
	if len(opts) == 0 {
		return nil
	}
	return rawDataIn(o)
}

// rawDataIn returns the value rawData in the field Internal of o, nil if there is none.
func rawDataIn[T any](o T) *bool {
	values := internalValues(reflect.ValueOf(o).FieldByName(internalField))
	if !values.IsValid() || values.Len() == 0 {
		return nil
	}
	v := values.MapIndex(reflect.ValueOf(rawDataKey))
	if !v.IsValid() {
		return nil
	}
	on := v.Elem().Bool()
	return &on
}

// appendRawData writes rawData, which older servers do not know.
func appendRawData(b []byte, rawData *bool, attempt operation.Attempt) []byte {
	if rawData == nil || attempt.Server.MaxWireVersion < rawDataWireVersion {
		return b
	}
	return wire.AppendBool(b, rawDataKey, *rawData)
}
