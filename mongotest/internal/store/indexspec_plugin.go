package store

import (
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// checkPlugin refuses options that the kind of the index does not allow.
func (r *specReader) checkPlugin() error {
	if r.plugin == "text" {
		if err := r.checkTextKey(); err != nil {
			return err
		}
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

// checkStorageEngine refuses options of storage engines that are none.
func (r *specReader) checkStorageEngine() error {
	for _, e := range r.rest {
		if string(e.Key) != "storageEngine" {
			continue
		}
		engines := query.Of(e)
		switch {
		case !engines.IsDocument():
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "\"storageEngine\" options must be a document if present")
		case len(engines.Data) == len(query.EmptyDocument):
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Empty \"storageEngine\" options are invalid. Please remove the field or include valid options.")
		}
		if err := CheckEngines(engines.Data); err != nil {
			return err
		}
	}
	return nil
}

// refuseClustered refuses an index that is to be the order of a clustered collection: only create makes one.
func (r *specReader) refuseClustered() error {
	if !r.Unique {
		return r.inSpecification(mongoerr.Errorf(mongoerr.CannotCreateIndex, "The 'unique' field is required when 'clustered' is specified"), false)
	}
	return r.inSpecification(mongoerr.Errorf(6243700, "Cannot create index with option 'clustered' that does not match an existing clustered index"), true)
}

// original checks the specification from which a client says that it made this one.
func (r *specReader) original(e *wire.Element) error {
	switch {
	case e.Document() == nil:
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'originalSpec' must be an object, but got %s", query.TypeName(e.Type))
	case len(e.Value) == len(query.EmptyDocument):
		return mongoerr.Errorf(mongoerr.BadValue, "The field 'originalSpec' cannot be an empty object.")
	}
	inner := &specReader{given: e.Value, v: query.Int32(2)}
	it := wire.Elements(e.Value)
	for it.Next() {
		if err := inner.field(&it.Element); err != nil {
			return err
		}
	}
	return it.Err
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

// ofSphere reads the numbers of a 2dsphere index again, as the building of the index does.
func (r *specReader) ofSphere() {
	coarsest, finest := coarsestLevel, fineLevel
	for _, e := range r.rest {
		name, v := string(e.Key), query.Of(e)
		switch name {
		case "coarsestIndexedLevel":
			coarsest = v.Clamped32()
		case "finestIndexedLevel":
			finest = v.Clamped32()
		case "2dsphereIndexVersion":
		default:
			continue
		}
		if v.AsFloat64() != float64(v.Clamped32()) {
			r.Late = true
			r.Flaw = mongoerr.Errorf(mongoerr.BadValue, "Expected field \"%s\" to have a value exactly representable as a 64-bit "+
				"integer, but found %s: %s", name, name, v)
			return
		}
	}
	switch {
	case coarsest < 0:
		r.Flaw = mongoerr.Errorf(16747, "coarsestIndexedLevel must be >= 0")
	case finest > finestLevel:
		r.Flaw = mongoerr.Errorf(16748, "finestIndexedLevel must be <= %d", finestLevel)
	case finest < coarsest:
		r.Flaw = mongoerr.Errorf(16749, "finestIndexedLevel must be >= coarsestIndexedLevel")
	}
	r.Late = r.Flaw != nil
}

// The sphere is divided into cells, of which those of finestLevel are the smallest. An index has cells from coarsestLevel to
// fineLevel if its specification says nothing else.
const (
	coarsestLevel = 2
	fineLevel     = 16
	finestLevel   = 30
)

// heaviest is the first weight that no field of a text index may have.
const heaviest = 100000

func checkWeights(v query.Value) error {
	if string(v.Text()) == "$**" {
		return nil
	}
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
