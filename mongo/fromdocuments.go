package mongo

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// NewCursorFromDocuments returns a cursor over documents that did not come from a server, for tests of code that reads
// cursors. If err is not nil, Next returns false and Err returns err. A nil registry means the default one.
func NewCursorFromDocuments(documents []any, err error, registry *bson.Registry) (*Cursor, error) {
	c := &Cursor{codec: codec{registry: registry}, err: err}
	s := newScratch()
	defer s.release()
	at, batch := wire.BeginDocument(nil)
	for i, document := range documents {
		s.b = s.b[:0]
		if err := c.codec.append(s, document); err != nil {
			return nil, fmt.Errorf("mongo: invalid document at index %d: %w", i, err)
		}
		batch = wire.AppendDocument(batch, wire.ArrayKey(i), s.b)
	}
	c.setBatch(wire.EndDocument(batch, at))
	return c, nil
}

// NewSingleResultFromDocument returns a result with a document that did not come from a server, for tests of code that
// reads results. If err is not nil, it is the result's error. A nil registry means the default one.
func NewSingleResultFromDocument(document any, err error, registry *bson.Registry) *SingleResult {
	r := &SingleResult{codec: codec{registry: registry}, err: err}
	if err != nil {
		return r
	}
	s := newScratch()
	defer s.release()
	doc, err := r.codec.document(s, document)
	r.raw, r.err = append(bson.Raw(nil), doc...), err
	return r
}
