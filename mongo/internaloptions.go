package mongo

import (
	"reflect"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The field Internal of the official options structs, and the field Custom of ClientOptions, are structs with one pointer to a map, to
// which the official driver's package xoptions adds values. MongoDB's own tools use it.
const (
	internalField = "Internal"
	customField   = "Custom"

	rawDataKey   = "rawData"                // the stored form of a time series (CRUD specification, "rawData")
	addFieldsKey = "addCommandFields"       // a bson.D whose elements are added to the commands
	uuidsKey     = "collectionUUIDs"        // the UUIDs of the collections of a Client.BulkWrite, one for each write
	loginKey     = "authenticateToAnything" // the client logs in to arbiters too
)

// internalKinds are the types of the values that are supported.
var internalKinds = map[string]reflect.Type{
	rawDataKey: reflect.TypeFor[bool](), addFieldsKey: reflect.TypeFor[bson.D](), uuidsKey: reflect.TypeFor[[][]byte](),
	loginKey: reflect.TypeFor[bool](),
}

// internalValues returns the values of such a field, and false if the struct is another one than the official driver's of today.
// Only a package inside the official module can read them in another way.
func internalValues(field reflect.Value) (values map[string]any, ok bool) {
	t := field.Type()
	if t.Kind() != reflect.Struct || t.NumField() != 1 || t.Field(0).Type != reflect.TypeFor[*map[string]any]() {
		return nil, false
	}
	own := reflect.New(t)
	own.Elem().Set(field)
	if given := *(**map[string]any)(unsafe.Pointer(own.Pointer())); given != nil { //nolint:gosec // the struct is this one field
		values = *given
	}
	return values, true
}

// refusedInternal returns the name of a value of the field that is not supported, "" if there is none.
func refusedInternal(name string, field reflect.Value) string {
	values, ok := internalValues(field)
	if !ok {
		return name
	}
	for key, value := range values {
		if reflect.TypeOf(value) != internalKinds[key] || value == nil {
			return key
		}
	}
	return ""
}

// isInternal reports whether a field is one with values of the package xoptions.
func isInternal(field reflect.StructField) bool {
	return field.Name == internalField || field.Name == customField && field.Type.Kind() == reflect.Struct
}

// internals are the values in the field Internal of the options of a call.
type internals struct {
	rawData *bool    // nil if there is none
	added   bson.D   // the elements that are added to the commands
	uuids   [][]byte // of the collections of a Client.BulkWrite, nil if they are not given
}

// internalsIn returns the values in the field Internal of o.
func internalsIn[T any](o T) (i internals) {
	field := reflect.ValueOf(o).FieldByName(internalField)
	if !field.IsValid() || field.IsZero() {
		return i
	}
	values, _ := internalValues(field)
	if on, ok := values[rawDataKey].(bool); ok {
		i.rawData = &on
	}
	i.added, _ = values[addFieldsKey].(bson.D)
	if each, ok := values[uuidsKey].([][]byte); ok {
		i.uuids = append([][]byte{}, each...)
	}
	return i
}

// internalsOf is internalsIn for options that opts were collected into. Without any it looks at nothing.
func internalsOf[T any](opts []options.Lister[T], o T) (i internals) {
	if len(opts) > 0 {
		i = internalsIn(o)
	}
	return i
}

// logsInToAnything reports whether the client's field Custom has the value authenticateToAnything.
func logsInToAnything(o *options.ClientOptions) bool {
	values, _ := internalValues(reflect.ValueOf(o).Elem().FieldByName(customField))
	on, _ := values[loginKey].(bool)
	return on
}
