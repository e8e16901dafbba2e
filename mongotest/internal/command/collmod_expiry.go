package command

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// expiryChange changes after how many seconds the documents of a clustered collection or a time series expire; "off" means never.
func expiryChange(v query.Value) (modifier, error) {
	seconds := int64(0)
	switch {
	case v.IsString() && string(v.Text()) != "off":
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: '%s'. "+
			"Accepted value is 'off'", v.Text())
	case v.IsNumber():
		seconds = v.Clamped()
	case !v.IsString():
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'collMod.expireAfterSeconds' is the wrong type '%s', expected types '[string, long, "+
			"int, decimal, double]'", query.TypeName(v.Type))
	}
	given := v.IsNumber()
	return func(_ *call.Call, d *store.Definition) error {
		if d.Options.Timeseries == nil && d.Options.Clustered == nil {
			return mongoerr.Errorf(mongoerr.InvalidOptions, "'expireAfterSeconds' option is only supported on collections clustered by _id")
		}
		return d.Expire(seconds, given)
	}, nil
}

// timeseriesChange lets buckets span a longer time. As the documents are kept one by one, only what is shown changes.
func timeseriesChange(e *wire.Element) (modifier, error) {
	if e.Document() == nil {
		return nil, fields.WrongType("collMod", "timeseries", e.Type, "object")
	}
	wanted := slices.Clone(e.Value)
	return func(_ *call.Call, d *store.Definition) (err error) {
		if d.Options.Timeseries == nil {
			return mongoerr.Errorf(mongoerr.InvalidOptions, "option only supported on a time-series collection: timeseries")
		}
		d.Options.Timeseries, err = d.Options.Timeseries.Widened(wanted)
		return err
	}, nil
}
