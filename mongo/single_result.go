package mongo

import "go.mongodb.org/mongo-driver/v2/bson"

// SingleResult is the result of an operation that returns one document: the document or an error. It is not safe for
// concurrent use.
type SingleResult struct {
	// Acknowledged is true if the server has answered an operation that may write: a FindOneAnd method or RunCommand.
	Acknowledged bool

	raw   bson.Raw
	codec codec
	err   error
}

// Decode decodes the document into v, which must be a non-nil pointer. It returns the operation's error if there is
// one, and ErrNoDocuments if no document was found.
func (r *SingleResult) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	return r.codec.unmarshal(r.raw, v)
}

// Raw returns the document's bytes and the error that Err returns. If a server refused the command of RunCommand, the bytes
// are its reply.
func (r *SingleResult) Raw() (bson.Raw, error) { return r.raw, r.Err() }

// Err returns the operation's error, ErrNoDocuments if no document was found, or nil.
func (r *SingleResult) Err() error {
	if r.err == nil && r.raw == nil {
		return ErrNoDocuments
	}
	return r.err
}
