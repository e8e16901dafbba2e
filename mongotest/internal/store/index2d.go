package store

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/indexes/index-types/geospatial/2d/

// plane is the square whose points a 2d index takes, and how often it is halved along each axis.
type plane struct {
	min, max float64
	bits     int
}

// ofPlane reads the options of a 2d index. What does not fit shows when its building begins.
func (r *specReader) ofPlane() {
	p := &plane{-180, 180, 26}
	for _, e := range r.rest {
		switch v := query.Of(e); string(e.Key) {
		case "min":
			p.min = v.AsFloat64()
		case "max":
			p.max = v.AsFloat64()
		case "bits":
			p.bits = v.Clamped32()
		}
	}
	r.plane = p
	geo, first := 0, false
	for i, it := 0, wire.Elements(r.Pattern); it.Next(); i++ {
		if it.Type == bson.TypeString {
			geo++
			first = first || i == 0
		}
	}
	area := p.max - p.min
	switch {
	case geo > 1:
		r.Flaw = mongoerr.Errorf(16800, "can't have 2 geo fields")
	case !first:
		r.Flaw = mongoerr.Errorf(16801, "2d has to be first in index")
	case p.bits < 1 || p.bits > 32:
		r.Flaw = mongoerr.Errorf(mongoerr.InvalidOptions, "bits for hash must be > 0 and <= 32, but %d bits were specified", p.bits)
	case !(area > 0) || area-area != 0:
		r.Flaw = mongoerr.Errorf(mongoerr.InvalidOptions, "region for hash must be valid and have positive area, but %s was specified", p)
	}
	r.Late = r.Flaw != nil
}

// String returns the bounds in the real server's form.
func (p *plane) String() string {
	return "[" + bound(p.min) + ", " + bound(p.max) + "]"
}

func bound(f float64) string {
	return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
}

// check returns why a document cannot be in the index of a path.
func (p *plane) check(path []string, doc []byte) error {
	var err error
	eachAlong(query.Document(doc), path, func(v query.Value) {
		if err == nil {
			err = p.checkLocations(v, doc)
		}
	})
	return err
}

// eachAlong calls f with each value at a path. It looks into arrays on the way, but not into arrays in them.
func eachAlong(v query.Value, path []string, f func(query.Value)) {
	for i, name := range path {
		next := query.Lookup(v.Data, name)
		switch {
		case next.Missing():
			return
		case next.IsArray() && i < len(path)-1:
			for _, element := range query.Elements(next.Data) {
				if element.IsDocument() {
					eachAlong(element, path[i+1:], f)
				}
			}
			return
		case !next.IsDocument() && i < len(path)-1:
			return
		}
		v = next
	}
	f(v)
}

// checkLocations checks the one location that a value is, or those that it has.
func (p *plane) checkLocations(v query.Value, doc []byte) error {
	if !v.IsDocument() && !v.IsArray() {
		return nil
	}
	parts := query.Elements(v.Data)
	if len(parts) > 0 && parts[0].IsNumber() {
		return p.checkPoint(parts, doc)
	}
	for _, part := range parts {
		if !part.IsDocument() && !part.IsArray() {
			return mongoerr.Errorf(16804, "location object expected, location array not in correct format")
		}
		if err := p.checkPoint(query.Elements(part.Data), doc); err != nil {
			return err
		}
	}
	return nil
}

// checkPoint checks a location, of which the first two fields or elements are the coordinates.
func (p *plane) checkPoint(parts []query.Value, doc []byte) error {
	var code mongoerr.Code
	var why string
	switch {
	case len(parts) == 0:
		return nil
	case len(parts) == 1 && parts[0].IsNumber():
		code, why = 13068, "geo field only has 1 element"
	case !parts[0].IsNumber() || !parts[1].IsNumber():
		code, why = 13026, "geo values must be 'legacy coordinate pairs' for 2d indexes"
	case !p.has(parts[0].AsFloat64()) || !p.has(parts[1].AsFloat64()):
		code, why = 13027, "point not in interval of [ "+bound(p.min)+", "+bound(p.max)+" ]"
	default:
		return nil
	}
	return mongoerr.Errorf(code, "%s :: caused by :: %s", why, query.DocumentText(doc))
}

func (p *plane) has(coordinate float64) bool { return coordinate >= p.min && coordinate <= p.max }
