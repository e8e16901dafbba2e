package mongotest

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// checkFields checks what the command has besides what every command may have.
func (c *command) checkFields() error {
	s := c.spec.fields
	switch {
	case s == nil:
		return nil
	case c.writeConcern.Present && !c.spec.write:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command does not support writeConcern")
	}
	var err error
	c.args, err = s.Check(c.args)
	return err
}

// genericDocument returns the document of a field that every command may have, nil if it is null.
func (c *command) genericDocument(e *wire.Element) ([]byte, error) {
	if e.Type == bson.TypeNull {
		return nil, nil
	}
	if e.Document() == nil {
		return nil, fields.WrongType(c.name, string(e.Key), e.Type, "object")
	}
	return e.Document(), nil
}

func (c *command) parseMaxTime(e *wire.Element) error {
	v := query.Of(*e)
	n, refused := query.IntegerOf("maxTimeMS", v)
	switch {
	case v.Type == bson.TypeNull:
		return nil
	case !v.IsNumber():
		var s *fields.Set
		if c.spec != nil {
			s = c.spec.fields
		}
		return s.NotNumber(c.name, e)
	case refused != "":
		return mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
	case n < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'maxTimeMS' value must be >= 0, actual value '%d'", n)
	case n > math.MaxInt32:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'maxTimeMS' value must be <= %d, actual value '%d'", math.MaxInt32, n)
	}
	c.maxTime, c.timed = time.Duration(n)*time.Millisecond, true
	return nil
}

// since refuses a field that servers before a version do not have.
func (x *call) since(major, minor int32, command, field string) error {
	if x.client.set.Version.AtLeast(major, minor) {
		return nil
	}
	return fields.Unknown(command, field)
}

// noArgs refuses every argument.
func (x *call) noArgs() error {
	if len(x.command.args) > 0 {
		return fields.Unknown(x.command.name, string(x.command.args[0].Key))
	}
	return nil
}

// cursorOption reads {batchSize: n}.
func (x *call) cursorOption(e *wire.Element, size int64) (int64, error) {
	err := fields.Cursor[x.command.name].Document(e.Value, func(e *wire.Element) error {
		size, _ = e.Int64()
		return nil
	})
	return size, err
}
