package command

import (
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/timeseries/timeseries-limitations/#updates

// series returns what the command's collection is as a time series, nil if it is none.
func series(x call.Locked) (*store.Timeseries, error) {
	c, err := x.Collection(x.Command.Full)
	if err != nil || c == nil {
		return nil, err
	}
	return c.Def.Options.Timeseries, nil
}

var errNotMulti = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot perform a non-multi update on a time-series collection")

// checkSeriesModified returns why a findAndModify does not update, if its collection is a time series.
func checkSeriesModified(x call.Locked) error {
	ts, err := series(x)
	if ts != nil {
		return errNotMulti
	}
	return err
}

// ofSeries returns why the statement is not executed on a time series, nil if it is or the collection is none. The real
// server updates whole buckets, so the conditions and the update are of what the measurements are about, and nothing else.
func (s *updateStatement) ofSeries(x call.Locked) error {
	ts, err := series(x)
	if ts == nil {
		return err
	}
	switch {
	case !s.multi:
		return errNotMulti
	case s.upsert:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot perform an upsert on a time-series collection")
	case ts.About() == "":
		return notUpdated("that does not have a metaField")
	}
	if err := checkSeriesFilter(ts, s.parts.filter); err != nil {
		return err
	}
	switch {
	case s.parts.update.IsArray():
		return notUpdated("using a pipeline update")
	case !isOperators(s.parts.update):
		return notUpdated("using a replacement document")
	}
	return checkSeriesUpdate(ts, s.parts.update)
}

func notUpdated(what string) error {
	return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot perform an update on a time-series collection %s", what)
}

// isOperators reports whether an update has operators, and is no replacement.
func isOperators(update query.Value) bool {
	it := wire.Elements(update.Data)
	return it.Next() && strings.HasPrefix(string(it.Key), "$")
}

// checkSeriesFilter refuses conditions on anything but what measurements are about.
func checkSeriesFilter(ts *store.Timeseries, filter []byte) error {
	for it := wire.Elements(filter); it.Next(); {
		switch name := string(it.Key); {
		case name == "$expr":
			return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use $expr when performing an update or delete on a time-series collection")
		case name == "$jsonSchema", !strings.HasPrefix(name, "$") && !ts.IsAbout(name):
			return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot perform an update or delete on a time-series collection when querying on a field "+
				"that is not the metaField '%s'", ts.About())
		}
		if err := checkSeriesValue(ts, query.Of(it.Element)); err != nil {
			return err
		}
	}
	return nil
}

// checkSeriesValue takes every document that is in an array for a filter, as the real server does: also those of $in.
func checkSeriesValue(ts *store.Timeseries, v query.Value) error {
	if !v.IsArray() && !v.IsDocument() {
		return nil
	}
	for _, e := range query.Elements(v.Data) {
		var err error
		if v.IsArray() && e.IsDocument() {
			err = checkSeriesFilter(ts, e.Data)
		} else {
			err = checkSeriesValue(ts, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSeriesUpdate refuses an update of anything but what measurements are about.
func checkSeriesUpdate(ts *store.Timeseries, update query.Value) error {
	for it := wire.Elements(update.Data); it.Next(); {
		for fields := wire.Elements(it.Value); fields.Next(); {
			renamed := string(it.Key) == "$rename" && !ts.IsAbout(string(fields.Text()))
			if renamed || !ts.IsAbout(string(fields.Key)) {
				return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot perform an update on a time-series collection which updates a field that is not "+
					"the metaField '%s'", ts.About())
			}
		}
	}
	return nil
}

// measuredAgain brings the fields of an updated measurement into the order in which it is kept.
func measuredAgain(x call.Locked, before, after []byte) ([]byte, error) {
	ts, err := series(x)
	if ts == nil || err != nil || &before[0] == &after[0] {
		return after, err
	}
	return ts.Updated(after), nil
}
