package mongotest

import (
	"errors"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// collectionOptions are what create and collMod set.
type collectionOptions struct {
	capped    bool
	size, max int64 // the limits of a capped collection, in bytes and documents

	validator []byte // nil for none
	filter    *query.Filter
	computes  bool   // the filter has expressions
	refused   error  // what is wrong with the validator
	level     string // "" for the default, strict
	viewOn    string // of a view; "" for a collection
	pipeline  []byte // of a view: an array
	action    string // "" for the default, error

	images bool // change streams can tell what documents were before and after

	clustered  []byte // the clustered index as it is shown, nil for none
	timeseries *timeseries
	expiring   bool  // expires is given
	expires    int64 // seconds, of a time series or a clustered collection; 0 if never. Nothing expires here
}

// shown returns the options as listCollections has them.
func (o *collectionOptions) shown() []byte {
	at, dst := wire.BeginDocument(nil)
	if o.capped {
		dst = wire.AppendBool(dst, "capped", true)
		dst = appendSmallest(dst, "size", o.size)
		if o.max > 0 {
			dst = appendSmallest(dst, "max", o.max)
		}
	}
	if o.clustered != nil {
		dst = wire.AppendDocument(dst, "clusteredIndex", o.clustered)
	}
	if o.expires > 0 {
		dst = wire.AppendInt64(dst, "expireAfterSeconds", o.expires)
	}
	if o.timeseries != nil {
		dst = o.timeseries.append(dst)
	}
	if o.images {
		at, images := wire.BeginEmbedded(dst, imagesOption)
		dst = wire.EndDocument(wire.AppendBool(images, "enabled", true), at)
	}
	if o.validator != nil {
		dst = wire.AppendDocument(dst, "validator", o.validator)
	}
	if o.level != "" {
		dst = wire.AppendString(dst, "validationLevel", o.level)
	}
	if o.action != "" {
		dst = wire.AppendString(dst, "validationAction", o.action)
	}
	if o.viewOn != "" {
		dst = wire.AppendString(dst, "viewOn", o.viewOn)
		dst = wire.AppendValue(dst, "pipeline", bson.TypeArray, o.pipeline)
	}
	return wire.EndDocument(dst, at)
}

// appendSmallest writes an integer with 32 bits if it fits.
func appendSmallest(dst []byte, key string, n int64) []byte {
	if n == int64(int32(n)) {
		return wire.AppendInt32(dst, key, int32(n))
	}
	return wire.AppendInt64(dst, key, n)
}

// field reads an option that create has; found tells whether it was one of these.
func (o *collectionOptions) field(command string, e *wire.Element) (found bool, err error) {
	v := query.Of(*e)
	switch string(e.Key) {
	case "capped":
		if v.Type != bson.TypeBoolean && !v.IsNumber() {
			return true, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.capped' is the wrong type '%s', expected types '[bool, int, double, "+
				"long, decimal]'", command, query.TypeName(v.Type))
		}
		o.capped = v.True()
	case "size":
		o.size, err = limitOf(command, "size", v)
		switch {
		case err != nil:
		case o.size > 1<<50:
			err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'size' value must be <= %d, actual value '%d'", int64(1)<<50, o.size)
		case o.size < 1:
			err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'size' value must be >= 1, actual value '%d'", o.size)
		}
	case "max":
		switch o.max, err = limitOf(command, "max", v); {
		case o.max > math.MaxInt32:
			err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'max' value must be < %d, actual value '%d'", int64(math.MaxInt32)+1, o.max)
		case o.max <= 0:
			o.max = math.MaxInt32
		}
	case "validator", "validationLevel", "validationAction":
		err = o.validation(command, e)
	case imagesOption:
		o.images, err = imagesArg(command, v)
	case "viewOn", "pipeline":
		err = o.view(command, e)
	default:
		return false, nil
	}
	return true, err
}

const imagesOption = "changeStreamPreAndPostImages"

// https://www.mongodb.com/docs/manual/changeStreams/#change-streams-with-document-pre--and-post-images

// imagesArg reads {enabled: <bool>}.
func imagesArg(command string, v query.Value) (bool, error) {
	field := command + "." + imagesOption
	if !v.IsDocument() {
		return false, wrongType(command, imagesOption, v.Type, "object")
	}
	var enabled query.Value
	it := wire.Elements(v.Data)
	for it.Next() {
		if string(it.Key) != "enabled" {
			return false, unknownField(field, string(it.Key))
		}
		enabled = query.Of(it.Element)
	}
	switch {
	case it.Err != nil:
		return false, it.Err
	case enabled.Missing():
		return false, mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.enabled' is missing but a required field", field)
	case enabled.Type != bson.TypeBoolean:
		return false, wrongType(field, "enabled", enabled.Type, "bool")
	}
	return enabled.True(), nil
}

// limitOf reads a number of bytes or documents.
func limitOf(command, field string, v query.Value) (int64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[long, double, decimal, int]'",
			command, field, query.TypeName(v.Type))
	}
	return v.Truncated(), nil
}

var (
	validationLevels  = []string{"off", "moderate", "strict"}
	validationActions = []string{"error", "warn"}
)

// validation reads what concerns the validation of documents.
func (o *collectionOptions) validation(command string, e *wire.Element) error {
	name := string(e.Key)
	if name == "validator" {
		doc := slices.Clone(e.Document())
		if doc == nil {
			return wrongType(command, name, e.Type, "object")
		}
		if err := valid(doc); err != nil {
			return err
		}
		if len(doc) == len(emptyDocument) {
			o.validator, o.filter = nil, nil
			return nil
		}
		o.refused = o.compileValidator(doc)
		return nil
	}
	if e.Type != bson.TypeString {
		return wrongType(command, name, e.Type, "string")
	}
	to, known := &o.level, validationLevels
	if name == "validationAction" {
		to, known = &o.action, validationActions
	}
	if *to = string(e.Text()); !slices.Contains(known, *to) {
		return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.%s' is not a valid value.", *to, command, name)
	}
	return nil
}

// view reads what makes a view.
func (o *collectionOptions) view(command string, e *wire.Element) error {
	name := string(e.Key)
	if name == "viewOn" {
		if e.Type != bson.TypeString {
			return wrongType(command, name, e.Type, "string")
		}
		if o.viewOn = string(e.Text()); o.viewOn == "" {
			return mongoerr.Errorf(mongoerr.BadValue, "'viewOn' cannot be empty")
		}
		return nil
	}
	if e.Type != bson.TypeArray {
		return wrongType(command, name, e.Type, "array")
	}
	o.pipeline = slices.Clone(e.Value)
	for i, stage := range query.Elements(o.pipeline) {
		if !stage.IsDocument() {
			return wrongType(command, name+"."+wire.ArrayKey(i), stage.Type, "object")
		}
	}
	return valid(o.pipeline)
}

func (o *collectionOptions) compileValidator(doc []byte) error {
	o.validator, o.filter, o.computes = doc, &query.Filter{}, false
	return o.filter.ParseWith(doc, query.Hooks{Refused: notInValidator, Expr: func(v query.Value) (query.Expr, error) {
		o.computes = true
		return validating(v)
	}})
}

// notInValidator refuses operators of whole filters, but schemas.
func notInValidator(operator string) error {
	if operator == "$jsonSchema" {
		return nil
	}
	return mongoerr.Errorf(mongoerr.BadValue, "%s is not allowed in this context", operator)
}

// validating compiles an expression of a validator. What fails in it fails when a document is validated.
func validating(v query.Value) (query.Expr, error) {
	for operator, code := range map[string]Code{"$rand": 3040500, "$currentDate": 9428200} {
		if uses(v, operator) {
			return nil, mongoerr.Errorf(code, "%s not allowed inside collection validators", operator)
		}
	}
	e, err := noLetHooks.Expr(v)
	if refused := (*mongoerr.Error)(nil); errors.As(err, &refused) && refused.Constant {
		return func([]byte, any) (query.Value, error) { return query.Value{}, err }, nil
	}
	return e, err
}

// uses tells whether an operator is anywhere in an expression.
func uses(v query.Value, operator string) bool {
	if !v.IsDocument() && !v.IsArray() {
		return false
	}
	it := wire.Elements(v.Data)
	for it.Next() {
		if name := string(it.Key); name == operator || name != "$literal" && name != "$const" && uses(query.Of(it.Element), operator) {
			return true
		}
	}
	return false
}

// check tells whether the options go together.
func (o *collectionOptions) check() error {
	switch {
	case o.expiring && o.timeseries == nil && o.clustered == nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections or when the "+
			"'clusteredIndex' option is specified")
	case o.clustered != nil && o.viewOn != "":
		return mongoerr.Errorf(6026500, "The 'clusteredIndex' option is not supported with views")
	case o.clustered != nil && o.max != 0:
		return mongoerr.Errorf(6049204, "'max' field for capped collections is not allowed on clustered collections. Did you mean 'capped: true' "+
			"with 'expireAfterSeconds'?")
	case o.clustered != nil && o.capped && o.size == 0:
		return mongoerr.Errorf(6127800, "Clustered capped collection only available with 'enableTestCommands' server parameter")
	case o.clustered != nil && o.size != 0:
		return mongoerr.Errorf(6049200, "'size' field for capped collections is not allowed on clustered collections. Did you mean 'capped: true' "+
			"with 'expireAfterSeconds'?")
	case o.viewOn == "" && o.pipeline != nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified")
	case !o.capped && (o.size != 0 || o.max != 0):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "the 'capped' field needs to be true when either the 'size' or 'max' fields are present")
	case o.capped && o.size == 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "the 'size' field is required when 'capped' is true")
	}
	if o.viewOn != "" {
		if o.pipeline == nil {
			o.pipeline = emptyDocument
		}
		*o = collectionOptions{viewOn: o.viewOn, pipeline: o.pipeline, timeseries: o.timeseries}
	}
	return nil
}

// https://www.mongodb.com/docs/manual/core/schema-validation/

// refuses tells why a document may not be stored in the place of another, or of none.
func (x *exec) refuses(o *collectionOptions, before, after []byte) error {
	if o.filter == nil || o.level == "off" || o.action == "warn" || x.satisfies(o, after) {
		return nil
	}
	if o.level == "moderate" && before != nil && !x.satisfies(o, before) {
		return nil
	}
	e := mongoerr.Errorf(mongoerr.DocumentValidationFailure, "Document failed validation")
	at, info := wire.BeginEmbedded(nil, "errInfo")
	id := query.Lookup(after, "_id")
	info = wire.AppendValue(info, "failingDocumentId", id.Type, id.Data)
	if x.set.config.version.atLeast(5, 0) {
		vars, _ := noLet.Vars(x.context()) // without a let nothing can fail
		info = wire.AppendDocument(info, "details", query.Explain(o.validator, after, query.Hooks{Expr: validating}, vars, mongoerr.Name))
	}
	e.Extra = wire.EndDocument(info, at)
	return e
}

// satisfies tells whether a document is as the validator wants it. One for which an expression fails is not.
func (x *exec) satisfies(o *collectionOptions, doc []byte) bool {
	if !o.computes {
		return o.filter.Match(doc)
	}
	vars, err := noLet.Vars(x.context())
	if err != nil {
		return false
	}
	ok, err := o.filter.MatchWith(doc, &query.Matching{Vars: vars})
	return ok && err == nil
}

// overflows tells whether a capped collection has more than it may.
func (c *collection) overflows() bool {
	o := &c.def.options
	return o.capped && (c.size > o.size || o.max > 0 && int64(c.live) > o.max)
}

// oldest returns the record that a capped collection gives up first.
func (c *collection) oldest() *record {
	var oldest *record
	c.scan(func(r *record) bool {
		oldest = r
		return false
	})
	return oldest
}
