package store

import (
	"bytes"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// specReader reads one index specification as a client gave it.
type specReader struct {
	Index
	given      []byte
	v          query.Value
	rest       []wire.Element // the options without a part in what the index does here
	hasName    bool
	expression wire.Element // the partialFilterExpression, if there is one
	uncollated error        // the error of the collation
	lenient    bool         // unknown fields are left out, not refused
	clustered  bool         // it is to be that of a clustered collection
	projection query.Value  // the wildcardProjection, Missing for none
}

// ParseIndex reads a specification of an index of a collection with a default collation, nil for none.
func ParseIndex(given []byte, inherited *collation.Collation, lenient bool) (*Index, error) {
	if inherited != nil && query.Lookup(given, "collation").Missing() && collates(given) {
		given = withCollation(given, inherited)
	}
	r := &specReader{given: given, lenient: lenient, v: query.Int32(2)}
	it := wire.Elements(given)
	for it.Next() {
		if err := r.field(&it.Element); err != nil {
			return nil, r.inSpecification(err, false)
		}
	}
	switch {
	case it.Err != nil:
		return nil, it.Err
	case r.Pattern == nil:
		return nil, r.inSpecification(mongoerr.Errorf(mongoerr.FailedToParse,
			"The 'key' field is a required property of an index specification"), false)
	case !r.hasName:
		return nil, r.inSpecification(mongoerr.Errorf(mongoerr.FailedToParse,
			"The 'name' field is a required property of an index specification"), false)
	}
	if err := r.checkTogether(); err != nil {
		return nil, r.inSpecification(err, false)
	}
	if r.clustered {
		return nil, r.refuseClustered()
	}
	if r.expression.Key != nil {
		if err := r.partially(&r.expression); err != nil {
			return nil, r.inSpecification(err, mongoerr.CodeOf(err) == mongoerr.CannotCreateIndex)
		}
	}
	if r.uncollated != nil {
		return nil, mongoerr.Because("failed to add collation information to index spec for index creation: "+query.DocumentText(r.text(true)),
			r.uncollated)
	}
	if IsIDPattern(r.Pattern) || r.Name == idIndexName {
		return r.ofID()
	}
	return r.finish()
}

// checkTogether refuses options that do not go together, which the real server sees before it reads any of them closely.
func (r *specReader) checkTogether() error {
	if err := r.checkWildcard(); err != nil {
		return err
	}
	version, _ := r.v.Integer()
	switch {
	case version < 2 && !query.Lookup(r.given, "collation").Missing():
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Invalid index specification %s; cannot create an index with the 'collation' option and v=%s",
			query.DocumentText(r.given), r.v)
	case r.Unique && r.Prepared:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Invalid index specification %s; cannot create an index with the 'unique' option and the "+
			"'prepareUnique' option", query.DocumentText(r.given))
	}
	return nil
}

// collates reports whether an index of a specification's version may have a collation.
func collates(given []byte) bool {
	v := query.Lookup(given, "v")
	return !v.IsNumber() || v.Clamped32() >= 2
}

// withCollation returns a specification with a collation, and with the version that the real server gives it before.
func withCollation(given []byte, c *collation.Collation) []byte {
	doc := slices.Clone(given[:len(given)-1])
	if query.Lookup(given, "v").Missing() {
		doc = wire.AppendInt32(doc, "v", 2)
	}
	return wire.EndDocument(wire.AppendDocument(doc, "collation", c.Shown()), 0)
}

// IsIDPattern reports whether a key pattern is that of an index of _id.
func IsIDPattern(pattern []byte) bool {
	it := wire.Elements(pattern)
	return it.Next() && string(it.Key) == "_id" && it.Type != bson.TypeString && !it.Next()
}

// inSpecification says in an error what it is about; whole adds the version, which the real server has by then.
func (r *specReader) inSpecification(err error, whole bool) error {
	e := *mongoerr.From(err)
	if e.Code == mongoerr.NotImplemented {
		return err
	}
	e.Message = "Error in specification " + query.DocumentText(r.text(whole)) + " :: caused by :: " + e.Message
	return &e
}

func (r *specReader) text(whole bool) []byte {
	if !whole {
		return r.given
	}
	at, doc := wire.BeginDocument(nil)
	for it := wire.Elements(r.given); it.Next(); {
		if string(it.Key) == "collation" && r.Collation != nil {
			it.Value = r.Collation.Shown()
		}
		doc = wire.AppendElement(doc, it.Element)
	}
	if query.Lookup(r.given, "v").Missing() {
		doc = wire.AppendInt32(doc, "v", 2)
	}
	return wire.EndDocument(doc, at)
}

func (r *specReader) field(e *wire.Element) error {
	name := string(e.Key)
	switch name {
	case "key":
		return r.key(e)
	case "name":
		if e.Type != bson.TypeString {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'name' must be a string, but got %s", query.TypeName(e.Type))
		}
		r.Name, r.hasName = string(e.Text()), true
		return nil
	case "v":
		return r.version(e)
	case "unique", "sparse", "background", "dropDups", "prepareUnique", "clustered":
		return r.flag(e)
	case "hidden":
		if e.Type != bson.TypeBoolean {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'hidden' must be a bool, but got %s", query.TypeName(e.Type))
		}
		r.Hidden = e.True()
		return nil
	case "partialFilterExpression":
		if e.Document() == nil {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'partialFilterExpression' must be an object, but got %s", query.TypeName(e.Type))
		}
		r.expression = *e
		return nil
	case "ns", "_id": // which old tools send along
		return nil
	case "collation":
		return r.collation(e)
	case "wildcardProjection":
		return r.readProjection(e)
	case "storageEngine":
		r.rest = append(r.rest, *e)
		return nil
	case "originalSpec":
		return r.original(e)
	case "expireAfterSeconds":
		r.expiry(e)
		return nil
	case "weights", "default_language", "language_override", "textIndexVersion", "2dsphereIndexVersion", "coarsestIndexedLevel", "finestIndexedLevel",
		"bits", "min", "max", "bucketSize":
		r.rest = append(r.rest, *e)
		return checkOption(e)
	}
	if r.lenient {
		return nil
	}
	return mongoerr.Errorf(mongoerr.InvalidIndexSpecificationOption, "The field '%s' is not valid for an index specification. Specification: %s",
		name, query.DocumentText(r.given))
}

// checkOption refuses an option of the wrong type, of those that only matter to indexes of other kinds.
func checkOption(e *wire.Element) error {
	v := query.Of(*e)
	want, ok := "a number", v.IsNumber()
	switch string(e.Key) {
	case "weights":
		want, ok = "an object", v.IsDocument() || v.IsArray() || v.Type == bson.TypeString
	case "default_language", "language_override":
		want, ok = "a string", v.Type == bson.TypeString
	}
	if !ok {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field '%s' must be %s, but got %s", e.Key, want, query.TypeName(v.Type))
	}
	return nil
}

func (r *specReader) collation(e *wire.Element) error {
	switch {
	case e.Document() == nil:
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'collation' must be an object, but got %s", query.TypeName(e.Type))
	case len(e.Value) == len(query.EmptyDocument):
		return mongoerr.Errorf(mongoerr.BadValue, "The field 'collation' cannot be an empty object.")
	}
	r.Collation, r.uncollated = collation.Parse(e.Value)
	return nil
}

func (r *specReader) version(e *wire.Element) error {
	r.v = query.Of(*e)
	n, ok := r.v.Integer()
	switch {
	case !r.v.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'v' must be a number, but got %s", query.TypeName(e.Type))
	case !ok || n != int64(int32(n)):
		return mongoerr.Errorf(mongoerr.BadValue, "Index version must be representable as a 32-bit integer, but got %s", r.v)
	case n < 1 || n > 2:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex,
			"Invalid index specification %s; cannot create an index with v=%s", query.DocumentText(r.given), r.v)
	}
	return nil
}

// flag reads an option that anything with a truth value may be.
func (r *specReader) flag(e *wire.Element) error {
	v := query.Of(*e)
	if v.Type != bson.TypeBoolean && !v.IsNumber() {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field '%s has value %s: %s, which is not convertible to bool", e.Key, e.Key, v)
	}
	switch string(e.Key) {
	case "unique":
		r.Unique = v.True()
	case "sparse":
		r.sparse = v.True()
		r.rest = append(r.rest, *e)
	case "background":
		r.rest = append(r.rest, *e)
	case "prepareUnique":
		if r.Prepared = v.True(); r.Prepared {
			r.rest = append(r.rest, wire.Element{Type: bson.TypeBoolean, Key: e.Key, Value: trueValue})
		}
	case "clustered":
		if r.clustered = v.True(); !r.clustered {
			return mongoerr.Errorf(6492800, "Value 'false' for field 'clustered' is invalid")
		}
	}
	return nil
}

var trueValue = []byte{1}

// expiry reads how long documents are kept: here for ever.
func (r *specReader) expiry(e *wire.Element) {
	v := query.Of(*e)
	seconds := int32(math.MaxInt32)
	var why string
	switch f := v.AsFloat64(); {
	case !v.IsNumber():
		why = "option must be numeric, but received a type of '" + query.TypeName(v.Type)
	case math.IsNaN(f):
		why = "option must not be NaN"
	case f < 0:
		why = "option cannot be less than 0"
	case f > math.MaxInt32:
		why = "must be within the range of a 32-bit integer"
	default:
		seconds = int32(v.Clamped32())
	}
	if why != "" {
		r.Flaw = mongoerr.Errorf(mongoerr.CannotCreateIndex, ". Index spec: %s :: caused by :: TTL index 'expireAfterSeconds' %s",
			query.DocumentText(r.given), why)
	}
	r.rest = append(r.rest, wire.Element{Type: bson.TypeInt32, Key: e.Key, Value: query.Int32(seconds).Data})
}

// ofID takes the specification of the index that every collection has: it may say nothing else than that.
func (r *specReader) ofID() (*Index, error) {
	if !IsIDPattern(r.Pattern) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, "+
			"found key: %s", query.DocumentText(r.Pattern))
	}
	if !query.EqualDocuments(r.Pattern, IDIndex.Pattern) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The field 'key' for an _id index must be {_id: 1}, but got %s", query.DocumentText(r.Pattern))
	}
	it := wire.Elements(r.given)
	for it.Next() {
		switch string(it.Key) {
		case "v", "key", "name", "ns", "collation":
		default:
			return nil, mongoerr.Errorf(mongoerr.InvalidIndexSpecificationOption, "The field '%s' is not valid for an _id index specification. "+
				"Specification: %s", it.Key, query.DocumentText(r.text(true)))
		}
	}
	return newIDIndex(r.Collation), nil
}

// gives reports whether the specification has one of the options that are only kept.
func (r *specReader) gives(option string) bool {
	return slices.ContainsFunc(r.rest, func(e wire.Element) bool { return string(e.Key) == option })
}

// finish checks how the parts go together and writes the specification as it is kept.
func (r *specReader) finish() (*Index, error) {
	var err error
	switch {
	case r.Name == "*":
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The index name '*' is not valid.")
	case r.gives("expireAfterSeconds") && len(r.Paths) > 1:
		return nil, mongoerr.Errorf(mongoerr.CannotCreateIndex, "TTL indexes are single-field indexes, compound indexes do not support TTL. Index "+
			"spec: %s", query.DocumentText(r.given))
	case r.Name == "":
		err = mongoerr.Errorf(mongoerr.CannotCreateIndex, "index name cannot be empty")
	case r.partial != nil && r.sparse:
		err = mongoerr.Errorf(mongoerr.CannotCreateIndex, `cannot mix "partialFilterExpression" and "sparse" options`)
	case r.plugin != "text" && r.gives("weights"):
		return nil, r.inSpecification(mongoerr.Errorf(mongoerr.CannotCreateIndex, "Invalid index specification %s; the field 'weights' can only be "+
			"specified with text indexes", query.DocumentText(r.given)), false)
	case r.Collation != nil && (r.plugin == "text" || r.plugin == "2d"):
		return nil, r.notCollated()
	case r.plugin == wildcard && r.notWild() != nil:
		err = r.notWild()
	case r.Unique && r.plugin == "hashed":
		r.Flaw, r.Late = mongoerr.Errorf(16764, "Currently hashed indexes cannot guarantee uniqueness. Use a regular index."), true
	case r.hashes() > 1:
		r.Flaw, r.Late = mongoerr.Errorf(31303, "A maximum of one index field is allowed to be hashed but found %d for 'key' %s", r.hashes(),
			query.DocumentText(r.Pattern)), true
	}
	if err == nil {
		err = r.checkPlugin()
	}
	if err == nil {
		err = r.checkStorageEngine()
	}
	if err != nil {
		return nil, r.inSpecification(err, true)
	}
	r.Pattern = slices.Clone(r.Pattern)
	switch r.plugin {
	case "text":
		r.ofText()
	case "2d":
		r.ofPlane()
	case "2dsphere":
		r.ofSphere()
	}
	r.Raw = r.kept()
	if r.plugin == "text" {
		r.Index.text = textOf(r.Raw)
	}
	ix := r.Index
	return &ix, nil
}

// notCollated refuses the collation of an index of a kind that has none.
func (r *specReader) notCollated() error {
	at, spec := wire.BeginDocument(nil)
	it := wire.Elements(r.given)
	for it.Next() {
		if string(it.Key) != "collation" {
			spec = wire.AppendElement(spec, it.Element)
		}
	}
	return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Error in specification %s :: caused by :: Index type '%s' does not support collation: %s",
		query.DocumentText(withCollation(wire.EndDocument(spec, at), r.Collation)), r.plugin, r.Collation.Text())
}

// kept writes the specification in the real server's order: what it puts first, then the rest as it was given.
func (r *specReader) kept() []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendInt32(dst, "v", int32(r.v.Clamped32()))
	if r.Unique {
		dst = wire.AppendBool(dst, "unique", true)
	}
	if r.Hidden {
		dst = wire.AppendBool(dst, "hidden", true)
	}
	dst = wire.AppendString(wire.AppendDocument(dst, "key", r.Pattern), "name", r.Name)
	var behind []wire.Element // what the real server writes behind the collation
	for _, e := range r.rest {
		switch string(e.Key) {
		case "coarsestIndexedLevel", "finestIndexedLevel":
			if r.plugin == "2dsphere" {
				behind = append(behind, e)
			}
		case "sparse", "background":
			dst = wire.AppendBool(dst, string(e.Key), e.True())
		case "bits", "min", "max":
			if r.plugin == "2d" {
				dst = wire.AppendElement(dst, e)
			}
		case "2dsphereIndexVersion":
			if r.plugin == "2dsphere" {
				dst = wire.AppendElement(dst, e)
			}
		case "textIndexVersion":
			if r.plugin == "text" {
				dst = wire.AppendElement(dst, e)
			}
		default:
			dst = wire.AppendElement(dst, e)
		}
	}
	if r.plugin == "2dsphere" && query.Lookup(r.given, "2dsphereIndexVersion").Missing() {
		dst = wire.AppendInt32(dst, "2dsphereIndexVersion", 3)
	}
	if r.Collation != nil {
		dst = wire.AppendDocument(dst, "collation", r.Collation.Shown())
	}
	slices.SortFunc(behind, func(a, b wire.Element) int { return bytes.Compare(a.Key, b.Key) })
	for _, e := range behind {
		dst = wire.AppendElement(dst, e)
	}
	return wire.EndDocument(dst, at)
}
