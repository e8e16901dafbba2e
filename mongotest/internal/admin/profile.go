package admin

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/profiling"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/command/profile/

// A level that there is not, such as -1, leaves the level and the filter as they are.
func cmdProfile(x *call.Call) error {
	if !x.Command.First.IsNumber() {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'profile.profile' is the wrong type '%s', expected types '[long, int, decimal, double]'",
			query.TypeName(x.Command.First.Type))
	}
	level := x.Command.First.Clamped()
	changes := make([]func(*profiling.State), 0, len(x.Command.Args)+1)
	if profiling.Off <= level && level <= profiling.All {
		changes = append(changes, func(s *profiling.State) { s.Level = int32(level) })
	}
	for i := range x.Command.Args {
		change, err := profileField(x, &x.Command.Args[i], len(changes) > 0)
		if err != nil {
			return err
		}
		changes = append(changes, change)
	}
	settings, err := profilerOf(x, level)
	if err != nil {
		return err
	}
	before := settings.Change(x.Command.DB, func(s *profiling.State) {
		for _, change := range changes {
			change(s)
		}
	})
	appendProfiler(x, &before)
	return nil
}

// profileField reads a field beside the level, and returns what it changes. A filter needs a level beside it.
func profileField(x *call.Call, e *wire.Element, setsLevel bool) (func(*profiling.State), error) {
	v := query.Of(*e)
	switch string(e.Key) {
	case "slowms":
		n, _ := v.Integer()
		return func(s *profiling.State) { s.SlowMS = int32(max(math.MinInt32, min(n, math.MaxInt32))) }, nil
	case "sampleRate":
		return sampleRate(v)
	}
	if !x.Client.Set.Version.Has(version.Of(4, 4, 2)) {
		return nil, fields.Unknown("profile", "filter")
	}
	filter, err := profileFilter(x, v)
	return func(s *profiling.State) {
		if setsLevel {
			s.Filter = filter
		}
	}, err
}

func sampleRate(v query.Value) (func(*profiling.State), error) {
	if v.Type == bson.TypeNull {
		return func(*profiling.State) {}, nil
	}
	if !v.IsNumber() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'profile.sampleRate' is the wrong type '%s', expected types '[long, int, decimal, double]'",
			query.TypeName(v.Type))
	}
	rate := v.AsFloat64()
	if !(rate >= 0 && rate <= 1) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive")
	}
	return func(s *profiling.State) { s.SampleRate = rate }, nil
}

// profileFilter returns the filter that a command sets, nil if it takes the one that there is away.
func profileFilter(x *call.Call, v query.Value) ([]byte, error) {
	switch {
	case v.Type == bson.TypeString && string(v.Text()) == "unset":
		return nil, nil
	case !v.IsDocument():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Expected an object, or the string 'unset'.")
	}
	filter := append([]byte{}, v.Data...)
	_, err := x.Matcher(filter)
	return filter, err
}

// profilerOf returns the settings of the server, and makes the collection in which a level above 0 records. A mongos has none.
func profilerOf(x *call.Call, level int64) (*profiling.Settings, error) {
	if x.Client.Router != nil {
		if level != -1 && level != profiling.Off {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "Profiling is not permitted on mongoS: the 'profile' field should be 0 to change 'slowms', "+
				"'sampleRate', or 'filter' settings for logging, or -1 to view current values")
		}
		return &x.Client.Router.Profiling, nil
	}
	var err error
	if level == profiling.Slow || level == profiling.All {
		err = call.WithLock(x, makeProfile)
	}
	return &x.Client.Member.Profiling, err
}

func makeProfile(x call.Locked) error {
	if err := x.CheckNewDatabase(x.Command.DB); err != nil {
		return err
	}
	if c := x.Client.Member.Data.Profile(x.Command.DB); !c.Def.Options.Capped {
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%s.%s exists but isn't capped", x.Command.DB, store.ProfileName)
	}
	return nil
}

// appendProfiler answers with what held before.
func appendProfiler(x *call.Call, s *profiling.State) {
	dst := wire.AppendInt32(x.Result.Out, "was", s.Level)
	dst = wire.AppendInt32(dst, "slowms", s.SlowMS)
	dst = wire.AppendDouble(dst, "sampleRate", s.SampleRate)
	if s.Filter != nil {
		dst = wire.AppendDocument(dst, "filter", s.Filter)
	}
	if s.Filter != nil || !x.Arg("filter").Missing() {
		dst = wire.AppendString(dst, "note", "When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.")
	}
	x.Result.Out = dst
}
