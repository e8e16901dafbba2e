package mongo

import (
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// fields has the names of the supported fields of an options struct. If any other field is set, it is an error. So a
// field that a newer official release adds is never ignored.
type fields map[string]bool

func supported(names ...string) fields {
	f := make(fields, len(names))
	for _, name := range names {
		f[name] = true
	}
	return f
}

// nestedFields has the supported fields of the structs that options point to.
var nestedFields = map[reflect.Type]fields{
	reflect.TypeFor[options.ServerAPIOptions](): supported("ServerAPIVersion", "Strict", "DeprecationErrors"),
	reflect.TypeFor[options.BSONOptions](): supported(
		"UseJSONStructTags", "ErrorOnInlineDuplicates", "IntMinSize", "NilMapAsEmpty", "NilSliceAsEmpty", "NilByteSliceAsEmpty",
		"OmitEmpty", "OmitZeroStruct", "StringifyMapKeysWithFmt", "AllowTruncatingDoubles", "BinaryAsSlice", "DefaultDocumentM",
		"DefaultDocumentMap", "ObjectIDAsHexString", "UseLocalTimeZone", "ZeroMaps", "ZeroStructs"),
	reflect.TypeFor[options.Collation](): supported(
		"Locale", "CaseLevel", "CaseFirst", "Strength", "NumericOrdering", "Alternate", "MaxVariable", "Normalization", "Backwards"),
	reflect.TypeFor[writeconcern.WriteConcern](): supported("W", "Journal"),
	reflect.TypeFor[readconcern.ReadConcern]():   supported("Level"),
}

// check returns an error with the name of a field that is set and not supported, or nil. It also checks the structs that the
// fields point to.
func (f fields) check(name string, options any) error {
	v := reflect.ValueOf(options).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || v.Field(i).IsZero() {
			continue
		}
		refused := ""
		switch {
		case !f[field.Name]:
			refused = field.Name
		case isInternal(field):
			refused = refusedInternal(field.Name, v.Field(i))
		}
		if refused != "" {
			return refusedOption{name, refused}
		}
		if err := checkNested(v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// refusedOption is the error of an option that is not supported.
type refusedOption struct{ options, field string }

// Error returns the name of the option.
func (r refusedOption) Error() string {
	return fmt.Sprintf("mongo: option %s.%s is not supported by Holdfast", r.options, r.field)
}

// ifRefused returns the empty result of a call that the official driver, which supports the option, would not have refused: some
// programs use the result of a bulk write without a look at the error. After another error it returns nil.
func ifRefused[T any](err error, empty *T) *T {
	var refused refusedOption
	if errors.As(err, &refused) {
		return empty
	}
	return nil
}

func checkNested(field reflect.Value) error {
	if field.Kind() != reflect.Pointer {
		return nil
	}
	if f, ok := nestedFields[field.Type().Elem()]; ok {
		return f.check(field.Type().Elem().Name(), field.Interface())
	}
	return nil
}

// collect merges the options of a call and checks them.
func collect[T any](f fields, opts []options.Lister[T]) (T, error) {
	if len(opts) == 0 {
		var none T
		return none, nil
	}
	all, err := collectGiven(f, opts)
	return *all, err
}

// isNil reports whether v is nil or a nil pointer. A nil options builder is allowed, as in the official driver.
func isNil(v any) bool {
	rv := reflect.ValueOf(v)
	return !rv.IsValid() || (rv.Kind() == reflect.Pointer && rv.IsNil())
}

func collectGiven[T any](f fields, opts []options.Lister[T]) (*T, error) {
	all := new(T)
	for _, lister := range opts {
		if isNil(lister) {
			continue
		}
		for _, set := range lister.List() {
			if set == nil { // the official driver skips it too
				continue
			}
			if err := set(all); err != nil {
				return all, err
			}
		}
	}
	return all, f.check(reflect.TypeFor[T]().Name(), all)
}
