package command

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/count/

func cmdCount(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	var s search
	filter := query.EmptyDocument
	for i := range x.Command.Args {
		if err := s.countField(&x.Command.Args[i], &filter); err != nil {
			return err
		}
	}
	if err := s.Compile(x, filter); err != nil {
		return err
	}
	docs, view, err := matching(x, &s)
	if err != nil {
		return err
	}
	if !view {
		countUse(x, &s.Criteria, func() *explained { return s.withFilter(explain.Count, filter) })
	}
	x.Result.Out = wire.AppendInt32(x.Result.Out, "n", int32(len(docs)))
	return nil
}

// matching returns what a count or distinct is about, in a collection or a view, and in which of the two.
func matching(x *call.Call, s *search) (docs [][]byte, view bool, err error) {
	p, err := x.Look(&s.Criteria)
	if view = x.Result.OnView; view {
		docs, err = readView(x, &s.Criteria, "query", "")
	} else if err == nil {
		docs, err = parseSearch(x, s, p)
	}
	return docs, view, err
}

func (s *search) countField(e *wire.Element, filter *[]byte) error {
	switch string(e.Key) {
	case "query":
		*filter = e.Value
		return query.CheckDocument(*filter)
	case "limit":
		return s.countLimit(query.Of(*e))
	case "skip":
		s.skip, _ = e.Int64()
	case "hint":
		return s.Hint.Parse(e)
	case "collation":
		return s.ParseCollation(e)
	}
	return nil
}

// countLimit reads a limit, whose sign does not matter to a count.
func (s *search) countLimit(v query.Value) error {
	if !v.IsNumber() {
		return mongoerr.Errorf(mongoerr.BadValue, "limit value is not a valid number")
	}
	n, refused := query.IntegerOf("limit", v)
	if refused != "" {
		return mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
	}
	s.limit = max(n, -n)
	return nil
}
