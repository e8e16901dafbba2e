package mongo

import "go.mongodb.org/mongo-driver/v2/bson"

// SingleResult is one document, or the error of the operation that should have returned it. It is not safe for
// concurrent use.
type SingleResult struct {
	raw   bson.Raw
	codec codec
	err   error
}

// Decode decodes the document into v, which must be a pointer. It returns the operation's error if there is one, and
// ErrNoDocuments if there is no document.
func (r *SingleResult) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	return r.codec.unmarshal(r.raw, v)
}

// Raw returns the document's bytes, or the error that Decode would return.
func (r *SingleResult) Raw() (bson.Raw, error) {
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r.raw, nil
}

// Err returns the operation's error, ErrNoDocuments if it found no document, or nil.
func (r *SingleResult) Err() error {
	if r.err == nil && r.raw == nil {
		return ErrNoDocuments
	}
	return r.err
}
