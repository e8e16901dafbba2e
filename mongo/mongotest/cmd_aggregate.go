package mongotest

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/aggregate/

// pipeline is an aggregation as far as it is supported: $match, $sort, $skip, $limit and $project in an order that a find
// has too, and at the end the $group of a document count.
type pipeline struct {
	search
	filters []query.Filter
	count   bool
	id      query.Value // of the count's group
	name    string      // of the count's field
}

func cmdAggregate(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	p := pipeline{search: search{batchSize: firstBatch}}
	found := false
	for i := range x.args {
		e := &x.args[i]
		found = found || string(e.Key) == "pipeline"
		if err := p.field(e); err != nil {
			return err
		}
	}
	if !found {
		return failf(codeMissingField, "BSON field 'aggregate.pipeline' is missing but a required field")
	}
	if err := x.reading(); err != nil {
		return err
	}
	docs, err := x.aggregateLocked(&p)
	x.set.mu.Unlock()
	if err != nil {
		return err
	}
	return x.replyCursor(docs, p.projection, p.batchSize, false)
}

func (p *pipeline) field(e *wire.Element) error {
	switch string(e.Key) {
	case "pipeline":
		if e.Type != bson.TypeArray {
			return wrongType("aggregate", "pipeline", e.Type, "array")
		}
		if err := valid(e.Value); err != nil {
			return err
		}
		return p.stages(e.Value)
	case "cursor":
		size := query.Lookup(e.Value, "batchSize")
		if n, ok := size.Integer(); ok {
			p.batchSize = n
		}
	case "hint":
		return p.hint.parse(e)
	case "allowDiskUse", "bypassDocumentValidation":
	case "collation":
		return simpleCollation("aggregate", e)
	case "explain", "let":
		return unsupportedField("aggregate", string(e.Key))
	default:
		return unknownField("aggregate", string(e.Key))
	}
	return nil
}

func (p *pipeline) stages(array []byte) error {
	it := wire.Elements(array)
	order := 0
	for it.Next() {
		if it.Type != bson.TypeEmbeddedDocument {
			return failf(codeTypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		stage := wire.Elements(it.Value)
		if !stage.Next() {
			return failf(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		at, err := p.stage(&stage.Element)
		if err != nil {
			return err
		}
		if at < order || (at == order && at > 1) {
			return failf(codeNotImplemented, "mongotest: the stage %s is not supported after others", stage.Key)
		}
		order = at
	}
	return it.Err
}

// stage takes one stage and returns its place in the only order that is supported.
func (p *pipeline) stage(e *wire.Element) (int, error) {
	n, number := e.Int64()
	switch name := string(e.Key); name {
	case "$match":
		if e.Document() == nil {
			return 0, failf(15959, "the match filter must be an expression in an object")
		}
		f, err := query.ParseFilter(e.Document())
		if err == nil {
			p.filters = append(p.filters, *f)
		}
		return 1, err
	case "$sort":
		var err error
		p.sort, err = parseSort("$sort", e)
		return 2, err
	case "$skip":
		p.skip = n
		return 3, positive(name, number && n >= 0)
	case "$limit":
		p.limit = n
		return 4, positive(name, number && n > 0)
	case "$project":
		var err error
		p.projection, err = parseProjection("aggregate", "$project", query.Of(*e), nil)
		return 5, err
	case "$group":
		return 6, p.group(e)
	default:
		return 0, failf(40324, "Unrecognized pipeline stage name: '%s' (mongotest has $match, $sort, $skip, $limit, $project "+
			"and the $group of a count)", name)
	}
}

func positive(name string, ok bool) error {
	if !ok {
		return failf(codeBadValue, "the argument to %s is out of range", name)
	}
	return nil
}

// group takes {_id: constant, name: {$sum: 1}}.
func (p *pipeline) group(e *wire.Element) error {
	refused := failf(codeNotImplemented, "mongotest: of $group only {_id: <constant>, <name>: {$sum: 1}} is supported")
	it := wire.Elements(e.Document())
	if e.Document() == nil || !it.Next() || string(it.Key) != "_id" || it.Type == bson.TypeEmbeddedDocument ||
		bytes.HasPrefix(it.Text(), []byte("$")) {
		return refused
	}
	p.id = query.Of(it.Element)
	if !it.Next() || it.Document() == nil {
		return refused
	}
	p.name, p.count = string(it.Key), true
	sum := query.Lookup(it.Value, "$sum")
	if n, ok := sum.Integer(); !ok || n != 1 || it.Next() {
		return refused
	}
	return nil
}

func (x *exec) aggregateLocked(p *pipeline) ([][]byte, error) {
	if len(p.filters) > 0 {
		p.filter = p.filters[0]
		if len(p.filters) > 1 {
			p.filter = query.And(p.filters)
		}
	}
	docs, err := x.searchLocked(&p.search)
	if err != nil || !p.count || len(docs) == 0 {
		return docs, err
	}
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendValue(dst, "_id", p.id.Type, p.id.Data)
	dst = wire.AppendInt32(dst, p.name, int32(len(docs)))
	p.projection = nil
	return [][]byte{wire.EndDocument(dst, at)}, nil
}
