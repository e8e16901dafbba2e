package mongo

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// NewCursorFromDocuments returns a cursor over documents, without a server, for the tests of applications. After the last
// document, Err returns preloadedErr. A nil registry means the default one.
func NewCursorFromDocuments(documents []any, preloadedErr error, registry *bson.Registry) (*Cursor, error) {
	s := newScratch()
	defer s.release()
	codec := codec{registry: registry}
	at, b := wire.BeginDocument(nil)
	for i, document := range documents {
		if document == nil {
			return nil, fmt.Errorf("invalid document at index %d: %w", i, ErrNilDocument)
		}
		s.b = s.b[:0]
		if err := codec.append(s, document); err != nil {
			return nil, err
		}
		b = wire.AppendDocument(b, wire.ArrayKey(i), s.b)
	}
	c := &Cursor{codec: codec, session: operation.NoSession, preloaded: preloadedErr}
	c.setBatch(wire.EndDocument(b, at))
	return c, nil
}

// NewSingleResultFromDocument returns a result that has a document or an error, without a server, for the tests of
// applications. A nil registry means the default one.
func NewSingleResultFromDocument(document any, err error, registry *bson.Registry) *SingleResult {
	if document == nil {
		return &SingleResult{err: ErrNilDocument}
	}
	s := newScratch()
	defer s.release()
	codec := codec{registry: registry}
	if err := codec.append(s, document); err != nil {
		return &SingleResult{err: err}
	}
	return &SingleResult{raw: append(bson.Raw(nil), s.b...), codec: codec, err: err}
}
