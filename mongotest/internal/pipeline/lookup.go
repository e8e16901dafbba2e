package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/lookup/

type lookup struct {
	subPipeline
	as, local, foreign fieldPath // local and foreign are nil without an equality
	failing            error     // of the pipeline inside, which is optimized when the first document comes
}

var lookupOptions = []option{
	{name: "as", types: ofString, required: true},
	{name: "from"},
	{name: "localField", types: ofString},
	{name: "foreignField", types: ofString},
	{name: "let", types: ofObject},
	{name: "pipeline"},
}

func surveyLookup(p *parser, name string, spec Value) error {
	if !spec.IsDocument() {
		return mongoerr.Errorf(mongoerr.FailedToParse, "the $lookup stage specification must be an object, but found %s", typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, lookupOptions)
	if err != nil {
		return err
	}
	stages := fields.Get("pipeline")
	if err := p.checkFrom(fields.Get("from"), stages); err != nil {
		return err
	}
	if stages.Missing() {
		return nil
	}
	return p.surveyInner(stages)
}

func (p *parser) checkFrom(from, stages Value) error {
	switch {
	case from.IsString():
		return p.checkNamespace("$lookup", string(from.Text()))
	case from.IsDocument():
		return mongoerr.Errorf(mongoerr.FailedToParse, "$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: %s and coll: %s",
			query.Lookup(from.Data, "db").Text(), query.Lookup(from.Data, "coll").Text())
	case !from.Missing():
		return mongoerr.Errorf(mongoerr.FailedToParse, "$lookup 'from' field must be a string or an object, but found %s", typeName(from))
	case stages.Missing():
		return mongoerr.Errorf(mongoerr.FailedToParse, "must specify 'pipeline' when 'from' is empty")
	case !startsWithDocuments(stages):
		return withoutCollection("$lookup")
	}
	return nil
}

func parseLookup(p *parser, name string, spec Value) (stage, error) {
	fields, err := parseOptions(name, spec.Data, lookupOptions)
	if err != nil {
		return nil, err
	}
	s := &lookup{}
	s.db, s.coll = p.DB, string(fields.Get("from").Text())
	if err := s.checkForm(fields); err != nil {
		return nil, err
	}
	if err := s.paths(fields); err != nil {
		return nil, err
	}
	let, err := p.late().let(fields.Get("let").Data)
	if err != nil {
		return nil, err
	}
	inner := p.late()
	err = s.parse(inner, let, fields.Get("pipeline"), func(name string) error {
		return mongoerr.Errorf(51047, "%s is not allowed within a $lookup's sub-pipeline", name)
	})
	s.failing = inner.optimized()
	return s, err
}

func (s *lookup) checkForm(fields object) error {
	local, foreign := string(fields.Get("localField").Text()), string(fields.Get("foreignField").Text())
	piped := !fields.Get("pipeline").Missing()
	switch {
	case piped && (local == "") != (foreign == ""):
		return mongoerr.Errorf(mongoerr.FailedToParse, "$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
	case !piped && (local == "" || foreign == ""):
		return mongoerr.Errorf(mongoerr.FailedToParse, "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
	case !piped && !fields.Get("let").Missing():
		return mongoerr.Errorf(mongoerr.FailedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
	}
	return nil
}

func (s *lookup) paths(fields object) (err error) {
	if s.as, err = query.FieldPath(string(fields.Get("as").Text())); err != nil {
		return err
	}
	local := string(fields.Get("localField").Text())
	if local == "" {
		return nil
	}
	if s.local, err = query.FieldPath(local); err != nil {
		return err
	}
	s.foreign, err = query.FieldPath(string(fields.Get("foreignField").Text()))
	return err
}

func (s *lookup) run(r *runner, in stream) stream {
	j := &joined{lookup: s}
	return perDocument(func(r *runner, doc []byte) ([]byte, error) {
		values := s.locals(doc)
		f, err := s.filter(r.Collation, values)
		if err == nil && s.failing != nil {
			if _, err = s.let.values(r, doc); err == nil {
				err = s.failing
			}
		}
		if err != nil {
			return nil, err
		}
		from, err := j.from(r, values)
		if err != nil {
			return nil, err
		}
		found, err := collect(s.stream(r, doc, from, f))
		if err != nil {
			return nil, err
		}
		j.count(r, values)
		return s.as.set(doc, documents(found)), nil
	}).run(r, in)
}

// joined is one run of a $lookup, which makes an index when a second document comes.
type joined struct {
	*lookup
	index *joinIndex
	docs  int
	found func() // counts a search; nil before the first
}

// count counts the search for a document. What is the same for all documents is searched once.
func (j *joined) count(r *runner, values []Value) {
	switch {
	case j.found == nil && j.local == nil:
		j.found = j.searching(r, nil)
	case j.found == nil:
		j.found = j.searching(r, equality(j.foreign, values))
	case j.local == nil && !j.correlated():
		return
	}
	j.found()
}

// equality is the filter by which a path is compared with values.
func equality(path fieldPath, values []Value) []byte {
	if len(values) == 1 {
		return object{}.Set(path.String(), object{}.Set("$eq", values[0]).Document()).Bytes()
	}
	return object{}.Set(path.String(), object{}.Set("$in", array(values)).Document()).Bytes()
}

// from returns the documents of the collection among which are all that have one of the values.
func (j *joined) from(r *runner, values []Value) (stream, error) {
	j.docs++
	if j.local == nil || j.docs == 1 {
		return r.documents(j.db, j.coll), nil
	}
	if j.index == nil {
		var err error
		if j.index, err = newJoinIndex(r, r.Source.Collection(j.db, j.coll), j.foreign); err != nil {
			return nil, err
		}
	}
	places, known := j.index.places(r, values)
	if !known {
		return streamOf(j.index.docs), nil
	}
	docs := make([][]byte, len(places))
	for i, at := range places {
		docs[i] = j.index.docs[at]
	}
	return streamOf(docs), nil
}

// locals returns the values of a document's local field.
func (s *lookup) locals(doc []byte) []Value {
	if s.local == nil {
		return nil
	}
	var values []Value
	s.local.each(doc, func(v Value) { values = append(values, elementsOrSelf(v)...) })
	if len(values) == 0 { // an absent value equals another absent one
		values = []Value{null}
	}
	return values
}

// filter returns the filter of what equals one of the local values, nil without an equality.
func (s *lookup) filter(c query.Collation, values []Value) (*query.Filter, error) {
	if s.local == nil {
		return nil, nil
	}
	return equalsAny(c, s.foreign, values)
}

// checkCompared refuses one of a number of values that cannot be looked for: one value by $eq, several by $in.
func checkCompared(v Value, values int) error {
	switch {
	case values > 1:
		return query.CheckListed(v)
	case v.Type == bson.TypeUndefined:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot compare to undefined")
	}
	return nil
}

// equalsAny returns the filter of documents in which a path leads to any of the values.
func equalsAny(c query.Collation, path fieldPath, values []Value) (*query.Filter, error) {
	var branches []Value
	for _, v := range values {
		if err := checkCompared(v, len(values)); err != nil {
			return nil, err
		}
		branches = append(branches, object{}.Set(path.String(), object{}.Set("$eq", query.PlainValue(v)).Document()).Document())
	}
	f := &query.Filter{}
	return f, f.ParseCollated(object{}.Set("$or", array(branches)).Bytes(), query.Hooks{}, c)
}
