package pipeline

import (
	"math"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/densify/

type densify struct {
	field      fieldPath
	partition  []fieldPath
	step       Value
	unit       string // "" for numbers
	bounds     string // "full" or "partition", "" where lower and upper are given
	lower, top Value
}

var densifyOptions = []option{
	{name: "field", types: ofString, required: true},
	{name: "partitionByFields", types: ofArray},
	{name: "range", types: ofObject, required: true},
}

var rangeOptions = []option{
	{name: "bounds", required: true},
	{name: "step", types: []string{"long", "int", "decimal", "double"}, required: true},
	{name: "unit", types: ofString},
}

func parseDensify(_ *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "The $densify stage specification must be an object, found %s", typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, densifyOptions)
	if err != nil {
		return nil, err
	}
	s := &densify{}
	if err := s.parseRange(name+".range", fields.Get("range").Data); err != nil {
		return nil, err
	}
	if s.field, err = query.FieldPath(string(fields.Get("field").Text())); err != nil {
		return nil, err
	}
	if err := s.parsePartition(fields.Get("partitionByFields")); err != nil {
		return nil, err
	}
	if s.bounds == "partition" && len(s.partition) == 0 {
		return nil, mongoerr.Errorf(5733408,
			"One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. "+
				"You may have meant to specify 'full' bounds.")
	}
	return ofAll(s.filled), nil
}

func (s *densify) parsePartition(list Value) error {
	for _, v := range query.Elements(orEmpty(list)) {
		text := string(v.Text())
		path, err := query.FieldPath(text)
		if err != nil {
			return err
		}
		a, b := text+".", s.field.String()+"."
		if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
			return mongoerr.Errorf(8993000, "partitionByFields '%s' cannot include field '%s' that is being densified.", text, s.field)
		}
		s.partition = append(s.partition, path)
	}
	return nil
}

// orEmpty returns the bytes of a document or array, those of an empty one if it is Missing.
func orEmpty(v Value) []byte {
	if v.Missing() {
		return query.EmptyDocument
	}
	return v.Data
}

func (s *densify) parseRange(name string, spec []byte) error {
	fields, err := parseOptions(name, spec, rangeOptions)
	if err != nil {
		return err
	}
	s.step = fields.Get("step")
	if unit := fields.Get("unit"); !unit.Missing() {
		s.unit = string(unit.Text())
		if err := checkUnit(s.unit); err != nil {
			return err
		}
	}
	if !(s.step.AsFloat64() > 0) {
		return mongoerr.Errorf(5733401, "The step parameter in a range statement must be a strictly positive numeric value")
	}
	if f := s.step.AsFloat64(); s.unit != "" && f != math.Trunc(f) {
		return mongoerr.Errorf(6586400, "The step parameter in a range statement must be a whole number when densifying a date range")
	}
	return s.parseBounds(fields.Get("bounds"))
}

func (s *densify) parseBounds(v Value) error {
	if v.IsString() {
		s.bounds = string(v.Text())
		if s.bounds != "full" && s.bounds != "partition" {
			return mongoerr.Errorf(5946802, "Bounds string must either be 'full' or 'partition'")
		}
		return nil
	}
	if !v.IsArray() {
		return mongoerr.Errorf(5733404, "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or "+
			"two dates")
	}
	list := query.Elements(v.Data)
	if len(list) != 2 {
		return mongoerr.Errorf(5733403, "A bounding array in a range statement must have exactly two elements")
	}
	s.lower, s.top = list[0], list[1]
	switch {
	case !s.lower.IsNumber() && !isDate(s.lower):
		return mongoerr.Errorf(5946800, "Explicit bounds must be numeric or dates")
	case isDate(s.lower) != isDate(s.top) || s.lower.IsNumber() != s.top.IsNumber():
		return mongoerr.Errorf(5733406, "A bounding array must contain either both dates or both numeric types")
	case query.Compare(s.lower, s.top) > 0:
		return mongoerr.Errorf(5733402, "A bounding array must be an ascending array of either two dates or two numbers")
	case isDate(s.lower) && s.unit == "":
		return mongoerr.Errorf(5733410, "A bounding array of dates must specify a unit")
	case !isDate(s.lower) && s.unit != "":
		return mongoerr.Errorf(5733409, "Numeric bounds may not have unit parameter")
	case !isDate(s.lower) && (s.lower.Type != s.top.Type || s.lower.Type != s.step.Type):
		return mongoerr.Errorf(5876900, "Upper bound, lower bound, and step must all have the same type")
	}
	return nil
}

// gaps fills one partition: next is the value that is due.
type gaps struct {
	*densify
	sample []byte // a document of the partition
	stride *stride
	next   Value
	out    *[][]byte
	work   *query.Work
	made   *int // how many documents were made, for all partitions
}

// maxGenerated is how many documents the real server makes at most.
const maxGenerated = 500_000

// until adds documents for the values that are due before a limit, or at it too.
func (g *gaps) until(limit Value, inclusive bool) error {
	for !g.next.Missing() {
		c := query.Compare(g.next, limit)
		if c > 0 || c == 0 && !inclusive {
			return nil
		}
		if err := g.work.Do(1); err != nil {
			return err
		}
		if *g.made++; *g.made > maxGenerated {
			return mongoerr.Errorf(5897900, "Generated %d documents in $densify, which is over the limit of %d. Increase the "+
				"'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents", *g.made, maxGenerated)
		}
		*g.out = append(*g.out, g.generated())
		if err := g.forward(); err != nil {
			return err
		}
	}
	return nil
}

func (g *gaps) forward() (err error) {
	if g.stride == nil {
		if g.stride, err = newStride(g.step, g.unit); err != nil {
			return err
		}
	}
	was := g.next
	if g.next, err = g.stride.from(g.next); err == nil && query.Compare(g.next, was) <= 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "mongotest: the step of $densify is too small to move from %s", was)
	}
	return err
}

// generated returns a document with what its partition has in common. Of a field that is not there the documents around it are.
func (g *gaps) generated() []byte {
	doc := query.EmptyDocument
	for _, path := range g.partition {
		v := path.get(g.sample)
		if around := path[:len(path)-1]; v.Missing() && len(around) > 0 && around.get(doc).Missing() {
			path, v = around, query.Document(query.EmptyDocument)
		}
		if !v.Missing() {
			doc = path.set(doc, v)
		}
	}
	return g.field.set(doc, g.next)
}

// key returns the bytes by which documents of one partition are known.
func (s *densify) key(r *runner, doc []byte) string {
	var key []byte
	for _, path := range s.partition {
		key = r.key(key, path.get(doc))
	}
	return string(key)
}

func (s *densify) filled(r *runner, docs [][]byte) ([][]byte, error) {
	if err := s.sort(r, docs); err != nil {
		return nil, err
	}
	var out [][]byte
	var partitions []*gaps
	made := 0
	known := make(map[string]*gaps)
	lower, top, err := s.limits(docs)
	if err != nil {
		return nil, err
	}
	tops := s.tops(r, docs)
	for _, doc := range docs {
		if err := r.Work.Bytes(len(doc)); err != nil {
			return nil, err
		}
		v := s.field.get(doc)
		if v.IsNullish() {
			out = append(out, doc)
			continue
		}
		key := s.key(r, doc)
		g := known[key]
		if g == nil {
			g = &gaps{densify: s, sample: doc, next: lower, out: &out, work: r.Work, made: &made}
			if s.bounds == "partition" {
				g.next, top = v, tops[key]
			}
			known[key], partitions = g, append(partitions, g)
		}
		if err := g.pass(v, top); err != nil {
			return nil, err
		}
		out = append(out, doc)
	}
	return s.tails(r.Work, out, partitions, top)
}

// pass fills up to a document's value and steps over it.
func (g *gaps) pass(v, top Value) error {
	limit := v
	if g.bounds == "" && query.Compare(top, v) < 0 {
		limit = top
	}
	if err := g.until(limit, false); err != nil {
		return err
	}
	if !g.next.Missing() && query.Equal(g.next, v) {
		g.next = v // what follows is of the type of the document's value
		return g.forward()
	}
	return nil
}

// tails fills the partitions up to the upper bound.
func (s *densify) tails(w *query.Work, out [][]byte, partitions []*gaps, top Value) ([][]byte, error) {
	if s.bounds == "partition" || top.Missing() {
		return out, nil
	}
	if len(partitions) == 0 && len(s.partition) == 0 {
		partitions = []*gaps{{densify: s, sample: query.EmptyDocument, next: s.lower, work: w, made: new(int)}}
	}
	for _, g := range partitions {
		g.out = &out
		if err := g.until(top, s.bounds == "full"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// limits checks the values and returns the bounds: those of all values where none are given.
func (s *densify) limits(docs [][]byte) (lower, top Value, err error) {
	for _, doc := range docs {
		v := s.field.get(doc)
		if v.IsNullish() {
			continue
		}
		if err := s.checkValue(v); err != nil {
			return missing, missing, err
		}
		if lower.Missing() || query.Compare(v, lower) < 0 {
			lower = v
		}
		if top.Missing() || query.Compare(v, top) > 0 {
			top = v
		}
	}
	if s.bounds == "" {
		return s.lower, s.top, nil
	}
	return lower, top, nil
}

func (s *densify) checkValue(v Value) error {
	switch {
	case !v.IsNumber() && !isDate(v):
		return mongoerr.Errorf(5733201, "Densify field type must be numeric or a date")
	case v.IsNumber() && s.unit != "":
		return mongoerr.Errorf(6053600, "Encountered numeric densify value in collection when step has a date unit.")
	case isDate(v) && s.unit == "":
		return mongoerr.Errorf(6053600, "Encountered date densify value in collection when step does not have a date unit.")
	}
	return nil
}

// sort orders documents by the field; by partition first, unless the bounds are those of all documents.
func (s *densify) sort(r *runner, docs [][]byte) error {
	return query.SortStable(r.Work, docs, func(a, b []byte) int {
		if s.bounds != "full" {
			for _, path := range s.partition {
				if c := r.compare(orNull(path.get(a)), orNull(path.get(b))); c != 0 {
					return c
				}
			}
		}
		return query.Compare(orNull(s.field.get(a)), orNull(s.field.get(b)))
	})
}

func orNull(v Value) Value {
	if v.Missing() {
		return null
	}
	return v
}

// tops returns the greatest value of each partition, where the partitions are filled each for itself.
func (s *densify) tops(r *runner, docs [][]byte) map[string]Value {
	if s.bounds != "partition" {
		return nil
	}
	tops := make(map[string]Value)
	for _, doc := range docs {
		key := s.key(r, doc)
		if v := s.field.get(doc); tops[key].Missing() || query.Compare(v, tops[key]) > 0 {
			tops[key] = v
		}
	}
	return tops
}
