package store

import (
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// checkPlugin refuses options that the kind of the index does not allow.
func (r *specReader) checkPlugin() error {
	if r.plugin == "text" && r.collate != nil {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index type 'text' does not support collation: %s", query.DocumentText(r.collate.Shown()))
	}
	for _, e := range r.rest {
		v := query.Of(e)
		var err error
		switch name := string(e.Key); {
		case r.plugin == "2dsphere" && name == "2dsphereIndexVersion":
			err = checkSphereVersion(v)
		case r.plugin == "text" && name == "textIndexVersion":
			if n := v.Clamped32(); n < 1 || n > 3 {
				err = mongoerr.Errorf(mongoerr.CannotCreateIndex, "bad textIndexVersion: %d", n)
			}
		case r.plugin == "text" && name == "weights":
			err = checkWeights(v)
		case r.plugin == "text" && name == "default_language":
			if _, known := fulltext.LanguageOf(string(v.Text())); !known {
				err = mongoerr.Errorf(mongoerr.CannotCreateIndex, "default_language is not valid")
			}
		case r.plugin == "text" && name == "language_override":
			if field := string(v.Text()); field == "" || field[0] == '$' || strings.Contains(field, ".") {
				err = mongoerr.Errorf(mongoerr.CannotCreateIndex, "language_override is not valid")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sphereVersions are the versions of 2dsphere indexes.
const sphereVersions = 4

func checkSphereVersion(v query.Value) error {
	if n := v.Clamped32(); n < 1 || n > sphereVersions {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "unsupported geo index version { 2dsphereIndexVersion : 2dsphereIndexVersion: %s }, "+
			"only versions: [1,2,3,4] are supported", v)
	}
	return nil
}

// ofSphere reads the version of a 2dsphere index again, as the building of the index does.
func (r *specReader) ofSphere() {
	for _, e := range r.rest {
		if v := query.Of(e); string(e.Key) == "2dsphereIndexVersion" && v.AsFloat64() != float64(v.Clamped32()) {
			r.Late = true
			r.Flaw = mongoerr.Errorf(mongoerr.BadValue, "Expected field \"2dsphereIndexVersion\" to have a value exactly representable as a 64-bit "+
				"integer, but found 2dsphereIndexVersion: %s", v)
		}
	}
}

// heaviest is the first weight that no field of a text index may have.
const heaviest = 100000

func checkWeights(v query.Value) error {
	if !v.IsDocument() {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "text index option 'weights' must be an object")
	}
	for it := wire.Elements(v.Data); it.Next(); {
		weight := query.Of(it.Element)
		if err := checkWeightPath(string(it.Key)); err != nil {
			return err
		}
		if !weight.IsNumber() {
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "weight for text index needs numeric type")
		}
		if n := weight.Clamped32(); n < 1 || n >= heaviest {
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "text index weight must be in the exclusive interval (0,%d) but found: %d", heaviest, n)
		}
	}
	return nil
}

// checkWeightPath refuses a path that no text can be at.
func checkWeightPath(path string) error {
	if path == "" {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "weight cannot be on an empty field")
	}
	for name := range strings.SplitSeq(path, ".") {
		switch {
		case name == "":
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "weight cannot have empty path component")
		case name[0] == '$' && path != "$**":
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "weight cannot have path component with $ prefix")
		}
	}
	return nil
}
