package query

import (
	"math"
	"strconv"

	"github.com/golang/geo/r2"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/geo"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// CheckSphereKeys returns why the values on a path cannot be in a 2dsphere index, nil if they can.
func CheckSphereKeys(doc []byte, path []string) error {
	return onGeoPath(doc, path, func(v Value) error {
		if v.IsNullish() || v.Missing() || (v.IsDocument() || v.IsArray()) && len(v.elements()) == 0 {
			return nil
		}
		reason := sphereFlaw(v)
		if reason == "" {
			return nil
		}
		failing := v.Data
		if !v.IsDocument() {
			failing = Object{{Name: "element", Value: v}}.Bytes()
		}
		at := dotted(path)
		info := Object{
			{Name: "failingPath", Value: Text(at)},
			{Name: "underlyingCode", Value: Int32(mongoerr.BadValue)},
			{Name: "underlyingReason", Value: Text(reason)},
			{Name: "failingElement", Value: Document(failing)},
		}.Bytes()
		e := mongoerr.Errorf(mongoerr.GeoKeyExtractionFailed, "Could not extract geo keys at path '%s' for document with _id %s: %s", at, Lookup(doc, "_id"), reason)
		e.Extra = wire.AppendDocument(nil, "errInfo", info)
		return e
	})
}

// sphereFlaw returns why a value is no geometry on the sphere, "" if it is one.
func sphereFlaw(v Value) string {
	if !v.IsDocument() && !v.IsArray() {
		return "geo element must be an array or object, got " + TypeName(v.Type)
	}
	p, err := parsePoint(v, true)
	switch {
	case err == nil && !geo.OnEarth(p):
		return "can't project geometry from FLAT CRS into spherical CRS"
	case err != nil && v.IsDocument():
		_, err = parseGeoJSON(v, false)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// CheckPlaneKeys returns why the values on a path cannot be in a 2d index with these limits, nil if they can.
func CheckPlaneKeys(doc []byte, path []string, low, high float64) error {
	return onGeoPath(doc, path, func(v Value) error {
		if !v.IsDocument() && !v.IsArray() {
			return nil
		}
		list := v.elements()
		if len(list) > 0 && list[0].IsNumber() {
			return checkPlanePoint(doc, list, low, high)
		}
		for _, e := range list {
			if !e.IsDocument() && !e.IsArray() {
				return mongoerr.Errorf(16804, "location object expected, location array not in correct format")
			}
			if numbers := e.elements(); len(numbers) > 0 {
				if err := checkPlanePoint(doc, numbers, low, high); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func checkPlanePoint(doc []byte, numbers []Value, low, high float64) error {
	flaw := func(code mongoerr.Code, text string) error {
		return mongoerr.Errorf(code, "%s :: caused by :: %s", text, DocumentText(doc))
	}
	switch {
	case len(numbers) < 2:
		return flaw(13068, "geo field only has 1 element")
	case !numbers[0].IsNumber() || !numbers[1].IsNumber():
		return flaw(13026, "geo values must be 'legacy coordinate pairs' for 2d indexes")
	}
	for _, n := range numbers[:2] {
		if f := n.AsFloat64(); math.IsNaN(f) || f < low || f > high {
			return flaw(13027, "point not in interval of [ "+limitText(low)+", "+limitText(high)+" ]")
		}
	}
	return nil
}

func limitText(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// onGeoPath calls visit with the values on a path; an array at its end is one value.
func onGeoPath(doc []byte, path []string, visit func(v Value) error) error {
	v := Lookup(doc, path[0])
	switch {
	case len(path) == 1:
		return visit(v)
	case v.IsDocument():
		return onGeoPath(v.Data, path[1:], visit)
	case v.IsArray():
		for _, e := range v.elements() {
			if !e.IsDocument() {
				continue
			}
			if err := onGeoPath(e.Data, path[1:], visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// PlanePoints returns the points on a path that a 2d index has, which CheckPlaneKeys accepts.
func PlanePoints(doc []byte, path []string) []r2.Point {
	var list []r2.Point
	add := func(numbers []Value) {
		if len(numbers) > 1 {
			list = append(list, r2.Point{X: numbers[0].AsFloat64(), Y: numbers[1].AsFloat64()})
		}
	}
	_ = onGeoPath(doc, path, func(v Value) error {
		if !v.IsDocument() && !v.IsArray() {
			return nil
		}
		parts := v.elements()
		if len(parts) > 0 && parts[0].IsNumber() {
			add(parts)
			return nil
		}
		for _, e := range parts {
			add(e.elements())
		}
		return nil
	})
	return list
}

// SphereCells returns the cells of the sphere under which a 2dsphere index has the geometries on a path.
func SphereCells(doc []byte, path []string, coarsest, finest int) []Value {
	var list []Value
	_ = onGeoPath(doc, path, func(v Value) error {
		if g := storedGeometry(v); g != nil {
			for _, cell := range g.Cells(coarsest, finest) {
				list = append(list, Int64(cell))
			}
		}
		return nil
	})
	return list
}
