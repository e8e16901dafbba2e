package pipeline

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Target is where a $out or $merge writes to, and how. The stage itself writes nothing.
type Target struct {
	Merge    bool
	DB, Coll string
	// Timeseries is the option of $out by which it makes a time-series collection, Missing without.
	Timeseries Value
	// On are the fields by which $merge finds what to write to: _id if there are none. It needs a unique index of them.
	On []string
	// WhenMatched is "replace", "merge", "keepExisting", "fail" or, for what Apply does, "pipeline"; WhenNotMatched is
	// "insert", "discard" or "fail".
	WhenMatched, WhenNotMatched string

	outer int // how many variables are in scope outside
	let   letVariables
	steps []step
	// broken is why the pipeline of whenMatched is no update, which is found out only when there is a result.
	broken error
}

var _ stage = (*Target)(nil)

func (t *Target) run(r *runner, in stream) stream {
	if t.WhenMatched != "pipeline" {
		return in
	}
	return perDocument(func(r *runner, doc []byte) ([]byte, error) {
		if t.broken != nil {
			return nil, t.broken
		}
		_, err := t.let.values(r, doc)
		return doc, err
	}).run(r, in)
}

// Apply returns what the pipeline of whenMatched makes of a stored document that a result matches.
func (t *Target) Apply(c Context, vars any, stored, result []byte) ([]byte, error) {
	r := c.with(vars)
	values, err := t.let.values(r, result)
	if err != nil {
		return nil, err
	}
	return one(r.within(t.outer, values), t.steps, stored)
}

// one runs stages that make one document of one.
func one(r *runner, steps []step, doc []byte) ([]byte, error) {
	docs, err := collect(chain(r, steps, streamOf([][]byte{doc})))
	if err != nil {
		return nil, err
	}
	return query.Plain(docs[0]), nil
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/out/

var outOptions = []option{
	{name: "coll", types: ofString, required: true}, {name: "db", types: ofString, required: true}, {name: "timeseries", types: ofObject},
}

func surveyOut(p *parser, name string, spec Value) error {
	_, err := parseOut(p, name, spec)
	return err
}

func parseOut(p *parser, name string, spec Value) (stage, error) {
	t := &Target{DB: p.DB, Coll: string(spec.Text())}
	if spec.IsDocument() {
		fields, err := parseOptions(name, spec.Data, outOptions)
		if err != nil {
			return nil, err
		}
		if t.Timeseries = fields.Get("timeseries"); !t.Timeseries.Missing() {
			if err := checkTimeseries(name+".timeseries", t.Timeseries.Data); err != nil {
				return nil, err
			}
		}
		t.DB, t.Coll = string(fields.Get("db").Text()), string(fields.Get("coll").Text())
	} else if !spec.IsString() {
		return nil, mongoerr.Errorf(16990, "$out only supports a string or object argument, but found %s", typeName(spec))
	}
	switch {
	case t.Coll == "":
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid $out target namespace, %s", t.DB)
	case spec.IsDocument() && t.DB == "" || strings.ContainsAny(t.DB, ". $/\\\""):
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid $out target namespace, %s.%s", t.DB, t.Coll)
	case strings.HasPrefix(t.Coll, "."):
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Collection names cannot start with '.': %s", t.Coll)
	case strings.HasPrefix(t.Coll, "system."):
		return nil, mongoerr.Errorf(17385, "Can't $out to special collection: %s", t.Coll)
	case slices.Contains(internalDatabases, t.DB):
		return nil, mongoerr.Errorf(31321, "Can't $out to internal database: %s", t.DB)
	}
	return t, nil
}

var timeseriesOptions = []option{
	{name: "timeField", types: ofString, required: true},
	{name: "metaField", types: ofString},
	{name: "granularity", types: ofString},
	{name: "bucketMaxSpanSeconds", types: ofSpan},
	{name: "bucketRoundingSeconds", types: ofSpan},
	{name: "fixedBucketing", plain: true},
}

var ofSpan = []string{"long", "int", "double", "decimal"}

func checkTimeseries(name string, doc []byte) error {
	fields, err := parseOptions(name, doc, timeseriesOptions)
	if err != nil {
		return err
	}
	for _, f := range fields {
		n := f.Value.Clamped32()
		switch {
		case f.Name == "granularity" && !slices.Contains([]string{"seconds", "minutes", "hours"}, string(f.Value.Text())):
			return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.granularity' is not a valid value.", f.Value.Text(), name)
		case f.Value.IsNumber() && n < 1:
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field '%s' value must be >= 1, actual value '%d'", f.Name, n)
		case f.Value.IsNumber() && n > maxSpan:
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%d'", f.Name, maxSpan, n)
		}
	}
	return nil
}

// maxSpan is how many seconds a bucket may span: a year.
const maxSpan = 365 * 24 * 60 * 60

var internalDatabases = []string{"admin", "config", "local"}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/merge/

var mergeOptions = []option{
	{name: "into", required: true},
	{name: "on"},
	{name: "let", types: ofObject},
	{name: "whenMatched"},
	{name: "whenNotMatched", types: ofString},
	{name: "targetCollectionVersion"},
	{name: "allowMergeOnNullishValues", plain: true},
}

var intoOptions = []option{{name: "db", types: ofString}, {name: "coll", types: ofString}}

func surveyMerge(p *parser, name string, spec Value) error {
	_, err := p.mergeTarget(name, spec)
	return err
}

// mergeTarget reads everything but the pipeline.
func (p *parser) mergeTarget(name string, spec Value) (*Target, error) {
	t := &Target{Merge: true, DB: p.DB, WhenMatched: "merge", WhenNotMatched: "insert"}
	into := spec
	if spec.IsDocument() {
		fields, err := parseOptions(name, spec.Data, mergeOptions)
		if err != nil {
			return nil, err
		}
		if into = fields.Get("into"); into.IsString() && len(into.Text()) == 0 {
			return nil, mongoerr.Errorf(5786800, "$merge 'into' field cannot be an empty string")
		}
		if err := checkMergeSwitches(fields); err != nil {
			return nil, err
		}
		if err := t.parseModes(fields); err != nil {
			return nil, err
		}
	} else if !spec.IsString() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "$merge requires a string or object argument, but found %s", typeName(spec))
	}
	return t, t.parseInto(into)
}

// checkMergeSwitches refuses values of the options that only the real server's routers use.
func checkMergeSwitches(fields object) error {
	if v := fields.Get("targetCollectionVersion"); !v.Missing() && !v.IsDocument() {
		return mongoerr.Errorf(10065, "invalid parameter: expected an object (targetCollectionVersion)")
	}
	return nil
}

func (t *Target) parseInto(into Value) error {
	switch {
	case into.IsString():
		t.Coll = string(into.Text())
	case into.IsDocument():
		parts, err := parseOptions("into", into.Data, intoOptions)
		if err != nil {
			return err
		}
		if db := string(parts.Get("db").Text()); db != "" {
			t.DB = db
		}
		if strings.Contains(t.DB, ".") {
			return mongoerr.Errorf(mongoerr.InvalidNamespace, "'.' is an invalid character in a db name: %s", t.DB)
		}
		if t.Coll = string(parts.Get("coll").Text()); t.Coll == "" {
			return mongoerr.Errorf(5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined")
		}
	default:
		return mongoerr.Errorf(51178, "$merge 'into' field  must be either a string or an object, but found %s", typeName(into))
	}
	switch {
	case t.Coll == "":
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid $merge target namespace: '%s'", t.DB)
	case strings.HasPrefix(t.Coll, "system."):
		return mongoerr.Errorf(31319, "Cannot $merge to special collection: %s", t.Coll)
	}
	return nil
}

var whenMatchedModes = []string{"replace", "merge", "keepExisting", "fail"}

func (t *Target) parseModes(fields object) error {
	if err := t.parseOn(fields.Get("on")); err != nil {
		return err
	}
	switch v := fields.Get("whenMatched"); {
	case v.IsArray():
		t.WhenMatched = "pipeline"
	case v.IsString():
		if t.WhenMatched = string(v.Text()); !slices.Contains(whenMatchedModes, t.WhenMatched) {
			return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field 'whenMatched' is not a valid value.", t.WhenMatched)
		}
	case !v.Missing():
		return mongoerr.Errorf(51191, "$merge 'whenMatched' field  must be either a string or an array, but found %s", typeName(v))
	}
	if v := fields.Get("whenNotMatched"); !v.Missing() {
		if t.WhenNotMatched = string(v.Text()); !slices.Contains([]string{"insert", "discard", "fail"}, t.WhenNotMatched) {
			return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '$merge.whenNotMatched' is not a valid value.", t.WhenNotMatched)
		}
	}
	return nil
}

func (t *Target) parseOn(on Value) error {
	list := []Value{on}
	switch {
	case on.Missing():
		return nil
	case on.IsArray():
		if list = query.Elements(on.Data); len(list) == 0 {
			return mongoerr.Errorf(51187, "If explicitly specifying $merge 'on', must include at least one field")
		}
	case !on.IsString():
		return mongoerr.Errorf(51186, "$merge 'on' field  must be either a string or an array of strings, but found %s", typeName(on))
	}
	for _, v := range list {
		if !v.IsString() {
			return mongoerr.Errorf(51134, "$merge 'on' array elements must be strings, but found %s", typeName(v))
		}
		name := string(v.Text())
		if slices.Contains(t.On, name) {
			return mongoerr.Errorf(31465, "Found a duplicate field '%s'", name)
		}
		if _, err := query.FieldPath(name); err != nil {
			return err
		}
		t.On = append(t.On, name)
	}
	return nil
}

func parseMerge(p *parser, name string, spec Value) (stage, error) {
	t, err := p.mergeTarget(name, spec)
	if err != nil {
		return nil, err
	}
	pair := "'whenMatched: " + t.WhenMatched + "' and 'whenNotMatched: " + t.WhenNotMatched + "'"
	switch {
	case t.WhenMatched == "fail" && t.WhenNotMatched != "insert", t.WhenMatched == "keepExisting" && t.WhenNotMatched != "insert":
		return nil, mongoerr.Errorf(51181, "Combination of $merge modes %s is not supported", pair)
	}
	if !spec.IsDocument() {
		return t, nil
	}
	fields := query.ObjectOf(spec.Data)
	return t, t.parsePipeline(p, fields.Get("let"), fields.Get("whenMatched"))
}

func (t *Target) parsePipeline(p *parser, let, stages Value) (err error) {
	if t.WhenMatched != "pipeline" {
		if !let.IsNullish() {
			return mongoerr.Errorf(51199, "Cannot use 'let' variables with 'whenMatched: %s' mode", t.WhenMatched)
		}
		return nil
	}
	var fields object
	if !let.IsNullish() {
		fields = query.ObjectOf(let.Data)
	}
	reserved := query.Text("$$ROOT")
	if v := fields.Get("new"); !v.Missing() && string(v.Text()) != "$$ROOT" {
		return mongoerr.Errorf(51273, "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'")
	}
	if t.let, err = p.late().let(fields.Set("new", reserved).Bytes()); err != nil {
		return err
	}
	t.outer = len(p.names)
	stages = lastOfEach(stages)
	if err := p.survey(stages); err != nil {
		return err
	}
	t.steps, t.broken = p.updateSteps(t.let.names, stages)
	return nil
}
