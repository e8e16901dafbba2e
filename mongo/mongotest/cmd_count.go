package mongotest

import "github.com/holdfast-db/holdfast/internal/wire"

// https://www.mongodb.com/docs/manual/reference/command/count/

func cmdCount(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var s search
	filter := emptyDocument
	for i := range x.args {
		if err := s.countField(&x.args[i], &filter); err != nil {
			return err
		}
	}
	if err := s.compile(x, filter); err != nil {
		return err
	}
	if s.limit < 0 {
		s.limit = -s.limit
	}
	docs, err := x.matching(&s)
	if err != nil {
		return err
	}
	x.out = wire.AppendInt32(x.out, "n", int32(len(docs)))
	return nil
}

// matching returns what a count or distinct is about, in a collection or a view.
func (x *exec) matching(s *search) ([][]byte, error) {
	if err := x.reading(); err != nil {
		return nil, err
	}
	docs, err := x.searchLocked(s)
	x.set.mu.Unlock()
	if x.onView {
		return x.readView("query", "")
	}
	return docs, err
}

func (s *search) countField(e *wire.Element, filter *[]byte) error {
	var err error
	switch string(e.Key) {
	case "query":
		if *filter = e.Document(); *filter == nil {
			return wrongType("count", "query", e.Type, "object")
		}
		return valid(*filter)
	case "limit":
		s.limit, _ = e.Int64()
	case "skip":
		s.skip, err = countArg("count", e)
	case "hint":
		return s.hint.parse(e)
	case "fields":
	case "collation":
		return s.parseCollation(e)
	default:
		return unknownField("count", string(e.Key))
	}
	return err
}
