package bsoncodec

import (
	"reflect"
	"slices"
	"strings"
)

// field is a field of a struct, or of a struct that is inline in it.
type field struct {
	name                         string
	path                         []int // the indexes from the outer struct to the field
	typ                          reflect.Type
	omitEmpty, minSize, truncate bool
}

const maxInline = 16 // levels of inline structs

// fieldsOf returns the fields of a struct in their order. It returns false if the struct needs the general codec.
func fieldsOf(t reflect.Type) ([]field, bool) {
	fields, ok := appendFields(nil, t, nil)
	names := make(map[string]bool, len(fields))
	for _, f := range fields {
		if names[f.name] || strings.IndexByte(f.name, 0) >= 0 {
			return nil, false
		}
		names[f.name] = true
	}
	return fields, ok
}

func appendFields(fields []field, t reflect.Type, path []int) ([]field, bool) {
	if len(path) > maxInline {
		return nil, false
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() {
			continue
		}
		tag, inline := readTag(sf)
		if tag.name == "" {
			continue
		}
		tag.path, tag.typ = slices.Concat(path, []int{i}), sf.Type
		if !inline {
			fields = append(fields, tag)
			continue
		}
		inner := sf.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			return nil, false
		}
		var ok bool
		if fields, ok = appendFields(fields, inner, tag.path); !ok {
			return nil, false
		}
	}
	return fields, true
}

// readTag returns what a field's tag says. The name is "" if the field is skipped. The whole tag "-" skips a field;
// followed by a comma, "-" is a name.
func readTag(sf reflect.StructField) (f field, inline bool) {
	tag, ok := sf.Tag.Lookup("bson")
	if !ok && !strings.Contains(string(sf.Tag), ":") {
		tag = string(sf.Tag)
	}
	if tag == "-" {
		return f, false
	}
	f.name = strings.ToLower(sf.Name)
	for i, part := range strings.Split(tag, ",") {
		if i == 0 && part != "" {
			f.name = part
		}
		switch part {
		case "omitempty":
			f.omitEmpty = true
		case "minsize":
			f.minSize = true
		case "truncate":
			f.truncate = true
		case "inline":
			inline = true
		}
	}
	return f, inline
}
