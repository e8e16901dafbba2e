package mongotest

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/validate/

func cmdValidate(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	for i := range x.command.args {
		switch name := string(x.command.args[i].Key); name {
		case "full", "background", "checkBSONConformance", "metadata", "enforceFastCount":
		case "repair", "fixMultikey":
			if x.command.args[i].True() {
				return fields.Unsupported("validate", name)
			}
		default:
			return fields.Unknown("validate", name)
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.conn.set.mu.Unlock()
	c, err := x.conn.member.storedLocked(x.command.full)
	if err != nil {
		return err
	}
	if c == nil {
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist to validate.", x.command.full)
	}
	x.result.out = c.AppendValidation(x.result.out, x.command.full)
	return nil
}
