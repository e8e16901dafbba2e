package mongo

import (
	"errors"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var indexFields = supported(
	"ExpireAfterSeconds", "Name", "Sparse", "StorageEngine", "Unique", "Version", "DefaultLanguage", "LanguageOverride",
	"TextVersion", "Weights", "SphereVersion", "Bits", "Max", "Min", "BucketSize", "PartialFilterExpression", "Collation",
	"WildcardProjection", "Hidden")

// index writes an index under key and returns its name.
func (x *extras) index(key string, model IndexModel) (string, error) {
	if model.Keys == nil {
		return "", errors.New("index model keys cannot be nil")
	}
	if unordered(model.Keys) {
		return "", ErrMapForOrderedArgument{ParamName: "keys"}
	}
	o, err := collectBuilder(indexFields, model.Options)
	if err != nil {
		return "", err
	}
	s := newScratch()
	defer s.release()
	keys, err := x.codec.document(s, model.Keys)
	if err != nil {
		return "", err
	}
	name := valueOr(o.Name, "")
	if o.Name == nil {
		if name, err = nameOfIndex(keys); err != nil {
			return "", err
		}
	}
	at, b := wire.BeginEmbedded(x.b, key)
	x.b = wire.AppendDocument(b, "key", keys)
	x.indexOptions(name, &o)
	x.b = wire.EndDocument(x.b, at)
	return name, x.err
}

// collectBuilder is collect for a builder inside a model, which may be nil.
func collectBuilder[T any, L interface {
	comparable
	options.Lister[T]
}](f fields, builder L) (T, error) {
	var none L
	if builder == none {
		return collect[T](f, nil)
	}
	return collect(f, []options.Lister[T]{builder})
}

func (x *extras) indexOptions(name string, o *options.IndexOptions) {
	x.int32("expireAfterSeconds", o.ExpireAfterSeconds)
	x.text("name", &name)
	x.boolean("sparse", o.Sparse)
	x.document("storageEngine", o.StorageEngine)
	x.boolean("unique", o.Unique)
	x.int32("v", o.Version)
	x.text("default_language", o.DefaultLanguage)
	x.text("language_override", o.LanguageOverride)
	x.int32("textIndexVersion", o.TextVersion)
	x.document("weights", o.Weights)
	x.int32("2dsphereIndexVersion", o.SphereVersion)
	x.int32("bits", o.Bits)
	x.double("max", o.Max)
	x.double("min", o.Min)
	x.int32("bucketSize", o.BucketSize)
	x.document("partialFilterExpression", o.PartialFilterExpression)
	x.collation(o.Collation)
	x.document("wildcardProjection", o.WildcardProjection)
	x.boolean("hidden", o.Hidden)
}

func (x *extras) int32(key string, v *int32) {
	if v != nil {
		x.b = wire.AppendInt32(x.b, key, *v)
	}
}

func (x *extras) double(key string, v *float64) {
	if v != nil {
		x.b = wire.AppendDouble(x.b, key, *v)
	}
}

// nameOfIndex returns the name that an index has by its keys (Index Management specification, "Index Name Generation"):
// the fields and their values, joined by underscores.
func nameOfIndex(keys []byte) (string, error) {
	var parts []string
	for it := wire.Elements(keys); it.Next(); {
		value := string(it.Text())
		switch it.Type {
		case bson.TypeInt32, bson.TypeInt64:
			n, _ := it.Int64()
			value = strconv.FormatInt(n, 10)
		case bson.TypeString:
		default:
			return "", ErrInvalidIndexValue
		}
		parts = append(parts, string(it.Key), value)
	}
	return strings.Join(parts, "_"), nil
}
