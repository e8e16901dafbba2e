package mongo

import (
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// newerCollation is a Collation of a newer official release, with one more field.
type newerCollation struct {
	Locale string
	Newer  bool
}

type newerOptions struct{ Collation *newerCollation }

// A field of a nested struct that a newer official release added is an error when it is set, and never ignored.
func TestANewFieldOfANestedStructIsRefused(t *testing.T) {
	nested := reflect.TypeFor[newerCollation]()
	nestedFields[nested] = nestedFields[reflect.TypeFor[options.Collation]()]
	defer delete(nestedFields, nested)
	for _, c := range []struct {
		given newerOptions
		want  string
	}{
		{newerOptions{}, ""},
		{newerOptions{&newerCollation{Locale: "en"}}, ""},
		{newerOptions{&newerCollation{Locale: "en", Newer: true}}, "mongo: option newerCollation.Newer is not supported by Holdfast"},
	} {
		got := ""
		if err := supported("Collation").check("newerOptions", &c.given); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("error %q, want %q", got, c.want)
		}
	}
}

// The values of a field Internal are supported one by one.
func TestAnInternalOptionThatIsNotSupportedIsRefusedByItsName(t *testing.T) {
	type internal struct{ values *map[string]any }
	type some struct{ Internal internal }
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{nil, ""},
		{map[string]any{"rawData": true}, ""},
		{map[string]any{"addCommandFields": bson.D{}}, ""},
		{map[string]any{"collectionUUIDs": [][]byte{}}, ""},
		{map[string]any{"collectionUUIDs": []string{}}, "mongo: option some.collectionUUIDs is not supported by Holdfast"},
		{map[string]any{"rawData": nil}, "mongo: option some.rawData is not supported by Holdfast"},
		{map[string]any{"newer": true}, "mongo: option some.newer is not supported by Holdfast"},
		{map[string]any{"addCommandFields": 1}, "mongo: option some.addCommandFields is not supported by Holdfast"},
		{map[string]any{"rawData": "yes"}, "mongo: option some.rawData is not supported by Holdfast"},
	} {
		var o some
		if c.given != nil {
			o.Internal.values = &c.given
		}
		got := ""
		if err := supported("Internal").check("some", &o); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("error %q, want %q", got, c.want)
		}
		if got != "" {
			continue
		}
		raw := internalsOf([]options.Lister[some]{nil}, o).rawData
		if on := raw != nil && *raw; on != (c.given["rawData"] == true) {
			t.Errorf("rawData of %v is %t", c.given, on)
		}
	}
}

// The field Internal of every options struct, and Custom of ClientOptions, is the struct that internalValues reads. If this fails, the
// official module has another one, and its values are refused.
func TestTheOfficialStructOfInternalOptionsIsKnown(t *testing.T) {
	for _, row := range SupportedOptions() {
		for i := range row.Type.NumField() {
			field := row.Type.Field(i)
			if !isInternal(field) {
				continue
			}
			if values, ok := internalValues(reflect.Zero(field.Type)); !ok || values != nil {
				t.Errorf("%s.%s is a %s", row.Type, field.Name, field.Type)
			}
		}
	}
}

// A bulk write with an option that is not supported returns an empty result, as the official driver, which supports it, always returns one.
func TestABulkWriteThatIsRefusedHasAResult(t *testing.T) {
	refused := supported().check("Options", &struct{ Ordered bool }{true})
	if r := ifRefused(refused, &BulkWriteResult{}); r == nil {
		t.Errorf("no result with %v", refused)
	}
	if r := ifRefused(ErrEmptySlice, &BulkWriteResult{}); r != nil {
		t.Errorf("a result with %v", ErrEmptySlice)
	}
}
