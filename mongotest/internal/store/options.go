package store

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Options are what create and collMod set.
type Options struct {
	Capped    bool
	Size, Max int64 // the limits of a capped collection, in bytes and documents

	validator []byte // nil for none
	Filter    *query.Filter
	computes  bool   // the filter has expressions
	Err       error  // the error of the collation or the validator
	level     string // "" for the default, strict
	ViewOn    string // of a view; "" for a collection
	Pipeline  []byte // of a view: an array
	action    string // "" for the default, error

	Collation *collation.Collation // the default of what compares strings in it; nil for none

	asked []byte // the same as errors have it, nil if none was asked for

	Uncollated error // why there is no collation although one was asked for

	Images bool // change streams can tell what documents were before and after

	Clustered []byte // the clustered index as it is shown, nil for none
	// Unclustered is set if clusteredIndex was said to be false.
	Unclustered bool
	Timeseries  *Timeseries
	Expiring    bool   // expires is given
	Engines     []byte // options of storage engines, which are only shown
	Expires     int64  // seconds, of a time series or a clustered collection

	IndexDefaults []byte // options of the indexes to come, which are only shown; nil for none
}

// Shown returns the options as listCollections has them.
func (o *Options) Shown() []byte { return o.shown(o.Collation.Shown()) }

// Requested returns the options as the error of a command that asks for them has them.
func (o *Options) Requested() []byte {
	return o.shown(o.asked)
}

// SameButForCollation reports whether two collections have the same options besides the collation.
func (o *Options) SameButForCollation(p *Options) bool {
	return query.EqualDocuments(o.shown(nil), p.shown(nil))
}

// ShownCollation returns the collation, an empty document for none.
func (o *Options) ShownCollation() []byte {
	if o.Collation == nil {
		return query.EmptyDocument
	}
	return o.Collation.Shown()
}

// AskedCollation returns the collation as the error of a command that asks for it has it, an empty document for none.
func (o *Options) AskedCollation() []byte {
	if o.asked == nil {
		return query.EmptyDocument
	}
	return o.asked
}

func (o *Options) shown(collation []byte) []byte {
	at, dst := wire.BeginDocument(nil)
	if o.Capped {
		dst = wire.AppendBool(dst, "capped", true)
		dst = query.AppendSmallest(dst, "size", o.Size)
		if o.Max > 0 {
			dst = query.AppendSmallest(dst, "max", o.Max)
		}
	}
	if o.Images {
		at, images := wire.BeginEmbedded(dst, ImagesOption)
		dst = wire.EndDocument(wire.AppendBool(images, "enabled", true), at)
	}
	if len(o.Engines) > len(query.EmptyDocument) {
		dst = wire.AppendDocument(dst, "storageEngine", o.Engines)
	}
	if o.IndexDefaults != nil && o.ViewOn == "" {
		dst = wire.AppendDocument(dst, "indexOptionDefaults", o.IndexDefaults)
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
	if o.ViewOn != "" {
		dst = wire.AppendString(dst, "viewOn", o.ViewOn)
		dst = wire.AppendValue(dst, "pipeline", bson.TypeArray, o.Pipeline)
	}
	if collation != nil {
		dst = wire.AppendDocument(dst, "collation", collation)
	}
	if o.Clustered != nil {
		dst = wire.AppendDocument(dst, "clusteredIndex", o.Clustered)
	}
	if o.Expiring {
		dst = wire.AppendInt64(dst, "expireAfterSeconds", o.Expires)
	}
	if o.Timeseries != nil {
		dst = o.Timeseries.append(dst)
	}
	return wire.EndDocument(dst, at)
}

// Read reads an option that create has; found says that it was one of these.
func (o *Options) Read(command string, e *wire.Element) (found bool, err error) {
	v := query.Of(*e)
	switch string(e.Key) {
	case "capped":
		if v.Type != bson.TypeBoolean && !v.IsNumber() {
			return true, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.capped' is the wrong type '%s', expected types '[bool, int, double, "+
				"long, decimal]'", command, query.TypeName(v.Type))
		}
		o.Capped = v.True()
	case "size":
		o.Size, err = ParseLimit(command, "size", v)
		switch {
		case err != nil:
		case o.Size > 1<<50:
			err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'size' value must be <= %d, actual value '%d'", int64(1)<<50, o.Size)
		case o.Size < 1:
			err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'size' value must be >= 1, actual value '%d'", o.Size)
		}
	case "max":
		switch o.Max, err = ParseLimit(command, "max", v); {
		case o.Max > math.MaxInt32:
			err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'max' value must be < %d, actual value '%d'", int64(math.MaxInt32)+1, o.Max)
		case o.Max <= 0:
			o.Max = math.MaxInt32
		}
	case "validator", "validationLevel", "validationAction":
		err = o.validation(command, e)
	case "collation":
		var c collation.Option
		c, err = collation.ParseOption(command, e.Value)
		o.Collation, o.asked, o.Uncollated = c.Collation, c.Requested, c.Flaw
	case ImagesOption:
		o.Images, err = ParseImages(command, v)
	case "viewOn", "pipeline":
		err = o.view(command, e)
	default:
		return false, nil
	}
	return true, err
}

// ImagesOption is the name of the option by which change streams have documents before and after.
const ImagesOption = "changeStreamPreAndPostImages"

// https://www.mongodb.com/docs/manual/changeStreams/#change-streams-with-document-pre--and-post-images

// ParseImages reads {enabled: <bool>}.
func ParseImages(command string, v query.Value) (bool, error) {
	field := command + "." + ImagesOption
	if !v.IsDocument() {
		return false, fields.WrongType(command, ImagesOption, v.Type, "object")
	}
	var enabled query.Value
	it := wire.Elements(v.Data)
	for it.Next() {
		if string(it.Key) != "enabled" {
			return false, fields.Unknown(field, string(it.Key))
		}
		if it.Type != bson.TypeNull {
			enabled = query.Of(it.Element)
		}
	}
	switch {
	case it.Err != nil:
		return false, it.Err
	case enabled.Missing():
		return false, mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.enabled' is missing but a required field", field)
	case enabled.Type != bson.TypeBoolean:
		return false, fields.WrongType(field, "enabled", enabled.Type, "bool")
	}
	return enabled.True(), nil
}

// ParseLimit reads a number of bytes or documents.
func ParseLimit(command, field string, v query.Value) (int64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[long, double, decimal, int]'",
			command, field, query.TypeName(v.Type))
	}
	return v.Clamped(), nil
}

// view reads what makes a view.
func (o *Options) view(command string, e *wire.Element) error {
	name := string(e.Key)
	if name == "viewOn" {
		if e.Type != bson.TypeString {
			return fields.WrongType(command, name, e.Type, "string")
		}
		if o.ViewOn = string(e.Text()); o.ViewOn == "" {
			return mongoerr.Errorf(mongoerr.BadValue, "'viewOn' cannot be empty")
		}
		return nil
	}
	if e.Type != bson.TypeArray {
		return fields.WrongType(command, name, e.Type, "array")
	}
	o.Pipeline = slices.Clone(e.Value)
	for i, stage := range query.Elements(o.Pipeline) {
		if !stage.IsDocument() {
			return fields.WrongType(command, name+"."+wire.ArrayKey(i), stage.Type, "object")
		}
	}
	return query.CheckDocument(o.Pipeline)
}

var errClusteredSize = mongoerr.Errorf(6049200, "'size' field for capped collections is not allowed on clustered collections. Did you mean "+
	"'capped: true' with 'expireAfterSeconds'?")

// Check returns why the options do not go together, nil if they do.
func (o *Options) Check() error {
	switch {
	case o.Unclustered && o.Timeseries != nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Invalid option 'clusteredIndex: false': clustered index can't be disabled for timeseries "+
			"collection")
	case o.Unclustered && o.Expiring:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'expireAfterSeconds' can be used only for clustered collections or timeseries collections")
	case o.Unclustered && o.Size != 0:
		return errClusteredSize
	case o.Expiring && o.Timeseries == nil && o.Clustered == nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'expireAfterSeconds' is only supported on time-series collections or when the "+
			"'clusteredIndex' option is specified")
	case o.Clustered != nil && o.ViewOn != "":
		return mongoerr.Errorf(6026500, "The 'clusteredIndex' option is not supported with views")
	case o.Clustered != nil && o.Max != 0:
		return mongoerr.Errorf(6049204, "'max' field for capped collections is not allowed on clustered collections. Did you mean 'capped: true' "+
			"with 'expireAfterSeconds'?")
	case o.Clustered != nil && o.Capped && o.Size == 0:
		return mongoerr.Errorf(6127800, "Clustered capped collection only available with 'enableTestCommands' server parameter")
	case o.Clustered != nil && o.Size != 0:
		return errClusteredSize
	case o.ViewOn == "" && o.Pipeline != nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified")
	case !o.Capped && (o.Size != 0 || o.Max != 0):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "the 'capped' field needs to be true when either the 'size' or 'max' fields are present")
	case o.Capped && o.Size == 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "the 'size' field is required when 'capped' is true")
	}
	engines := CheckEngines(o.Engines)
	if o.ViewOn != "" {
		if o.Pipeline == nil {
			o.Pipeline = query.EmptyDocument
		}
		*o = Options{ViewOn: o.ViewOn, Pipeline: o.Pipeline, Timeseries: o.Timeseries, Collation: o.Collation, asked: o.asked, Uncollated: o.Uncollated}
	}
	flaw := cmp.Or(o.Timeseries.CheckSpans(), o.expiryFlaw(time.Now()), o.Uncollated)
	if flaw == nil && o.Filter != nil && o.Collation != nil {
		flaw = o.compileValidator(o.validator)
	}
	o.Err = cmp.Or(flaw, o.Err, engines, o.Timeseries.keyFlaw())
	return nil
}

// expiryFlaw returns why documents cannot expire after that time, nil if they can.
func (o *Options) expiryFlaw(now time.Time) error {
	var text string
	switch {
	case !o.Expiring:
		return nil
	case o.Expires < 0:
		text = "TTL index 'expireAfterSeconds' option cannot be less than 0"
	case o.Expires > now.Unix():
		text = fmt.Sprintf("TTL index 'expireAfterSeconds' option cannot exceed time since last epoch (%ds) found %d", now.Unix(), o.Expires)
	default:
		return nil
	}
	if o.Timeseries != nil {
		text = "Failed to create timeseries collection :: caused by :: " + text
	}
	return mongoerr.Errorf(mongoerr.InvalidOptions, "%s", text)
}

// https://www.mongodb.com/docs/manual/core/schema-validation/
