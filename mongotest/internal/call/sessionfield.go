package call

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// session notes the session that the command is of.
func (c *Command) session(e *wire.Element) error {
	const where = "OperationSessionInfo.lsid"
	switch c.LSID = e.Document(); {
	case e.Type == bson.TypeNull:
		return nil
	case c.LSID == nil:
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type 'object'", where, query.TypeName(e.Type))
	}
	return CheckSessionID(where, c.LSID)
}

// CheckSessionID refuses a session without an id, or with one that is not a UUID.
func CheckSessionID(path string, session []byte) error {
	switch id := query.Lookup(session, "id"); {
	case id.Missing():
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.id' is missing but a required field", path)
	case id.Type != bson.TypeBinary:
		return mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field '%s.id' is the wrong type '%s', expected type 'binData'", path, query.TypeName(id.Type))
	default:
		_, err := ParseUUID(path+".id", id.Data)
		return err
	}
}

// ParseUUID reads a field that is binary.
func ParseUUID(path string, data []byte) (id store.UUID, err error) {
	switch {
	case data[4] != bson.TypeBinaryUUID:
		return id, mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field '%s' is the wrong binData type '%s', expected type 'UUID'", path, binaryName(data[4]))
	case len(data) != 5+len(id):
		return id, errUUID
	}
	return store.UUID(data[5:]), nil
}

var errUUID = mongoerr.Errorf(mongoerr.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")
