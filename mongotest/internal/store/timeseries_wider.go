package store

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// granularities are in the order of what buckets of them span.
var granularities = []string{"seconds", "minutes", "hours"}

// Widened returns the options with a coarser granularity, or with buckets that span more seconds, as collMod asks for them.
//
// https://www.mongodb.com/docs/manual/core/timeseries/timeseries-granularity/
func (ts *Timeseries) Widened(wanted []byte) (*Timeseries, error) {
	after, seconds := *ts, map[string]int64{}
	for _, f := range query.ObjectOf(wanted) {
		switch f.Name {
		case "granularity":
			if !slices.Contains(granularities, string(f.Value.Text())) {
				return nil, mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field 'collMod.timeseries.granularity' is not a valid value.",
					f.Value.Text())
			}
			after.granularity = string(f.Value.Text())
		case "bucketMaxSpanSeconds", "bucketRoundingSeconds":
			seconds[f.Name] = f.Value.Clamped()
		default:
			return nil, fields.Unknown("collMod.timeseries", f.Name)
		}
	}
	if len(seconds) > 0 {
		return after.spanning(seconds["bucketMaxSpanSeconds"], seconds["bucketRoundingSeconds"], ts.bucketSpan())
	}
	if after.granularity == ts.granularity {
		return &after, nil
	}
	from, to := slices.Index(granularities, ts.shownGranularity()), slices.Index(granularities, after.granularity)
	if ts.ownSpan() || to < from || to > from+1 {
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "Invalid transition for timeseries.granularity. Can only transition from 'seconds' to "+
			"'minutes' or 'minutes' to 'hours'.")
	}
	after.span, after.rounding = 0, 0
	return &after, nil
}

// spanning returns the options with other seconds of buckets, which may only grow.
func (ts *Timeseries) spanning(span, rounding, before int64) (*Timeseries, error) {
	switch {
	case span == 0 || rounding == 0 || span != rounding:
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "Timeseries 'bucketMaxSpanSeconds' and 'bucketRoundingSeconds' need to be set and equal to "+
			"each other")
	case span < before || span > maxSpan:
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "Timeseries 'bucketMaxSpanSeconds' needs to be at least %d and at most %d", before, maxSpan)
	}
	ts.span, ts.rounding, ts.granularity = span, rounding, ""
	return ts, nil
}
