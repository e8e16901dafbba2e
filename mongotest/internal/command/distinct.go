package command

import (
	"bytes"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/distinct/

func cmdDistinct(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	var s search
	key, filter := query.Value{}, query.EmptyDocument
	for i := range x.Command.Args {
		if err := s.distinctField(&x.Command.Args[i], &key, &filter); err != nil {
			return err
		}
	}
	if bytes.IndexByte(key.Text(), 0) >= 0 {
		return mongoerr.Errorf(31032, "Key field cannot contain an embedded null byte")
	}
	if err := s.Compile(x, filter); err != nil {
		return err
	}
	docs, view, err := matching(x, &s)
	if err != nil {
		return err
	}
	x.Result.WholeOK = view
	values, err := query.Distinct(x.Work(), docs, string(key.Text()), s.Rule())
	if err != nil {
		return err
	}
	if err := checkDistinct(x, values, view); err != nil {
		return err
	}
	if !view {
		countUse(x, &s.Criteria, func() *explained { return s.toDistinct(key, filter) })
	}
	x.Result.Out = appendValues(x.Result.Out, "values", values)
	if x.Snapshot() {
		x.Result.Out = wire.AppendTimestamp(x.Result.Out, "atClusterTime", x.Command.AtTime.Seconds(), x.Command.AtTime.Increment())
	}
	return nil
}

func (s *search) distinctField(e *wire.Element, key *query.Value, filter *[]byte) error {
	switch string(e.Key) {
	case "key":
		*key = query.Of(*e)
	case "query":
		*filter = e.Value
		return query.CheckDocument(*filter)
	case "hint":
		return s.Hint.Parse(e)
	case "collation":
		return s.ParseCollation(e)
	}
	return nil
}

// maxValues is the size of the largest array of values that the real server returns.
const maxValues = query.MaxDocumentSize - 4130

// checkDistinct refuses values that a reply has no room for. Those of a view come from an aggregation, in a document beside a null.
func checkDistinct(x *call.Call, values []query.Value, view bool) error {
	size := len(query.EmptyDocument)
	for i, v := range values {
		size += 1 + len(wire.ArrayKey(i)) + 1 + len(v.Data)
	}
	around := len(query.EmptyDocument) + len("_id") + 2 + len("distinct") + 2
	switch {
	case view:
		if err := pipeline.CheckSize(around + size); err != nil {
			return x.Executing("aggregate", err)
		}
	case size > maxValues:
		return x.Executing("distinct", mongoerr.Errorf(17217, "distinct too big, 16mb cap"))
	}
	return nil
}

func appendValues(dst []byte, key string, values []query.Value) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, v := range values {
		dst = wire.AppendValue(dst, wire.ArrayKey(i), v.Type, v.Data)
	}
	return wire.EndDocument(dst, at)
}
