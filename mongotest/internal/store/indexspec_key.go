package store

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/indexes/

// maxParts is how many fields an index may have.
const maxParts = 32

// plugins are the kinds of index whose entries are something else than values.
var plugins = []string{"text", "2d", "2dsphere", "hashed", wildcard}

const wildcard = "wildcard"

// columns is a kind that servers had before a release, and of which they still know the name.
const columns = "columnstore"

// pluginOf returns the kind of index that a key pattern asks for, "" for one of values: the last that it names, but a
// wildcard with a direction is one whatever else is named.
func pluginOf(pattern []byte) string {
	plugin := ""
	for it := wire.Elements(pattern); it.Next(); {
		switch v := query.Of(it.Element); {
		case v.Type == bson.TypeString:
			plugin = string(v.Text())
		case isWildcard(string(it.Key)):
			return wildcard
		}
	}
	return plugin
}

// key reads the key pattern.
func (r *specReader) key(e *wire.Element) error {
	if r.Pattern = e.Document(); r.Pattern == nil {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'key' must be an object, but got %s", query.TypeName(e.Type))
	}
	r.plugin = pluginOf(r.Pattern)
	if err := checkPluginName(r.plugin, r.Pattern); err != nil {
		return err
	}
	for it := wire.Elements(r.Pattern); it.Next(); {
		if err := r.keyPart(string(it.Key), query.Of(it.Element)); err != nil {
			return err
		}
		r.Paths = append(r.Paths, strings.Split(string(it.Key), "."))
	}
	if len(r.Paths) == 0 {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index keys cannot be empty.")
	}
	if r.plugin == columns {
		return mongoerr.Errorf(mongoerr.NotImplemented, "Columnstore indexes can no longer be created")
	}
	if len(r.Paths) > maxParts {
		r.Flaw = mongoerr.Errorf(13103, "too many compound keys")
	}
	return nil
}

// checkPluginName refuses a kind of index that no server has, or that this pattern cannot be.
func checkPluginName(plugin string, pattern []byte) error {
	wild := make(map[string]bool)
	for it := wire.Elements(pattern); it.Next(); {
		if isWildcard(string(it.Key)) {
			wild[string(it.Key)] = true
		}
	}
	switch {
	case plugin == "geoHaystack":
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "GeoHaystack indexes cannot be created in version 5.0 and above")
	case plugin == "queryable_encrypted_range":
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "EncryptedRange indexes cannot be created")
	case plugin != "" && plugin != columns && !slices.Contains(plugins, plugin):
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Unknown index plugin '%s'", plugin)
	case plugin == wildcard && len(wild) == 0:
		return mongoerr.Errorf(7246202, "No wildcard index field is specified for the wildcard index")
	case plugin == wildcard && len(wild) > 1:
		return mongoerr.Errorf(7246201, "Index Key can contain only one wildcard index field")
	}
	return nil
}

func (r *specReader) keyPart(name string, v query.Value) error {
	switch {
	case v.IsNumber():
		if math.IsNaN(v.AsFloat64()) {
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Values in the index key pattern cannot be NaN.")
		}
		if v.AsFloat64() == 0 {
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Values in the index key pattern cannot be 0.")
		}
	case v.Type != bson.TypeString:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Values in v:2 index key pattern cannot be of type %s. Only numbers > 0, numbers < 0, "+
			"and strings are allowed.", query.TypeName(v.Type))
	case string(v.Text()) != r.plugin:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Can't use more than one index plugin for a single index.")
	case r.plugin == wildcard && isWildcard(name):
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "The key pattern value for an 'wildcard' index must be a non-zero number, not a string.")
	}
	if r.plugin == wildcard && isWildcard(name) || r.plugin == "text" && name == "$**" {
		return nil
	}
	// In a text index as the real server shows it, _fts stands for all that is searched; elsewhere it is no field's name.
	if name == "_fts" && string(v.Text()) != "text" {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index key contains an illegal field name: '_fts'")
	}
	if err := keyField(name); err != nil {
		return err
	}
	if v.Type == bson.TypeString && len(v.Text()) == 0 {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Values in the index key pattern cannot be empty strings")
	}
	return nil
}

// keyField refuses a name that no field of an index may have.
func keyField(name string) error {
	if name == "" {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index keys cannot be an empty field.")
	}
	for i, part := range strings.Split(name, ".") {
		if part == "" {
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index keys cannot contain an empty field.")
		}
		if part[0] == '$' && (i == 0 || !query.IsReferenceField(part)) {
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index key contains an illegal field name: field name starts with '$'.")
		}
	}
	return nil
}

// hashes returns how many fields of the key are to be hashed.
func (r *specReader) hashes() int {
	n := 0
	for it := wire.Elements(r.Pattern); r.plugin == "hashed" && it.Next(); {
		if it.Type == bson.TypeString {
			n++
		}
	}
	return n
}
