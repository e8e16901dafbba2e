package mongotest

import (
	"bytes"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/distinct/

func cmdDistinct(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var s search
	key, filter := query.Value{}, query.EmptyDocument
	for i := range x.command.args {
		if err := s.distinctField(&x.command.args[i], &key, &filter); err != nil {
			return err
		}
	}
	if bytes.IndexByte(key.Text(), 0) >= 0 {
		return mongoerr.Errorf(31032, "Key field cannot contain an embedded null byte")
	}
	if err := s.compile(x, filter); err != nil {
		return err
	}
	docs, view, err := x.matching(&s)
	if err != nil {
		return err
	}
	x.result.wholeOK = view
	values, err := query.Distinct(x.work(), docs, string(key.Text()), s.rule())
	if err != nil {
		return err
	}
	x.result.out = appendValues(x.result.out, "values", values)
	if x.snapshot() {
		x.result.out = wire.AppendTimestamp(x.result.out, "atClusterTime", x.command.atTime.Seconds(), x.command.atTime.Increment())
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
		return s.hint.Parse(e)
	case "collation":
		return s.parseCollation(e)
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
