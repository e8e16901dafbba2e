package pipeline

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/fill/

var fillOptions = []option{
	{name: "output", types: ofObject, required: true},
	{name: "partitionBy", types: []string{"object", "string"}, variant: true},
	{name: "partitionByFields", types: ofArray},
	{name: "sortBy", types: ofObject},
}

// fill is other stages: a $setWindowFields for the methods, an $addFields for the values.
type fill []stage

func (f fill) run(r *runner, in stream) stream {
	for _, s := range f {
		in = s.run(r, in)
	}
	return in
}

func parseFill(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "The $fill stage specification must be an object, found %s", typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, fillOptions)
	if err != nil {
		return nil, err
	}
	values, methods, err := fillOutput(fields.Get("output"))
	if err != nil {
		return nil, err
	}
	by, err := fillPartition(fields)
	if err != nil {
		return nil, err
	}
	var s fill
	if len(methods) > 0 {
		windows := object{}.Set("partitionBy", by).Set("sortBy", fields.Get("sortBy")).Set("output", methods.Document()).Document()
		w, err := parseSetWindowFields(p, "$setWindowFields", windows)
		if err != nil {
			return nil, err
		}
		s = append(s, w)
	}
	if len(values) > 0 {
		a, err := parseAddFields(p, "$addFields", values.Document())
		if err != nil {
			return nil, err
		}
		s = append(s, a)
	}
	return s, nil
}

// fillOutput returns the fields to fill with values and those to fill by a method, as the other stages write them.
func fillOutput(output Value) (values, methods object, err error) {
	fields := query.ObjectOf(output.Data)
	if len(fields) == 0 {
		return nil, nil, mongoerr.Errorf(6050203, "The output field in '$fill' must contain an object with at least one element")
	}
	for _, f := range fields {
		if !f.Value.IsDocument() {
			return nil, nil, mongoerr.Errorf(6050200, "Each fill output specification must be an object with exactly one field")
		}
		known, err := parseOptions("$fill", f.Value.Data, []option{{name: "value"}, {name: "method", types: ofString}})
		if err != nil {
			return nil, nil, err
		}
		value, method := known.Get("value"), string(known.Get("method").Text())
		path := query.Text("$" + f.Name)
		switch {
		case !value.Missing() && method != "":
			return nil, nil, mongoerr.Errorf(6050201, "Each fill output specification must have exactly one of 'method' or 'value' fields, not both")
		case !value.Missing():
			values = append(values, field{Name: f.Name, Value: object{}.Set("$ifNull", array([]Value{path, value})).Document()})
		case method == "locf":
			methods = append(methods, field{Name: f.Name, Value: object{}.Set("$locf", path).Document()})
		case method == "linear":
			methods = append(methods, field{Name: f.Name, Value: object{}.Set("$linearFill", path).Document()})
		case method != "":
			return nil, nil, mongoerr.Errorf(6050202, "Method must be either locf or linear")
		}
	}
	return values, methods, nil
}

// fillPartition returns the expression to partition by, Missing for none.
func fillPartition(fields object) (Value, error) {
	by, list := fields.Get("partitionBy"), fields.Get("partitionByFields")
	if list.Missing() {
		return by, nil
	}
	if !by.Missing() {
		return missing, mongoerr.Errorf(6050204, "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'")
	}
	var key object
	for i, v := range query.Elements(list.Data) {
		if _, err := query.FieldPath(string(v.Text())); err != nil {
			return missing, err
		}
		key = append(key, field{Name: fmt.Sprintf("k%d", i), Value: query.Text("$" + string(v.Text()))})
	}
	if len(key) == 0 {
		return missing, nil
	}
	return key.Document(), nil
}
